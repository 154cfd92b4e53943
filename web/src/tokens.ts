// The sequence of tokens, and edits of it that remember where each token came from.
import type { Input } from './api.ts';

export interface Token {
  id: number;
  text: string;
  from: number; // its position in the example, before it was stretched and edited; -1: it was not there
  answer: boolean; // the token before it is asked for it
  evidence: Token[]; // of the tokens that this answer depends on
}

export type Edit = { kind: 'change' | 'insert'; at: number; id: number } | { kind: 'drop'; at: number };

export function tokensOf(input: Input): Token[] {
  const tokens: Token[] = input.tokens.map((id, i) => ({
    id,
    text: input.texts[i] ?? String(id),
    from: input.from?.[i] ?? i,
    answer: i > 0 && (input.targets[i - 1] ?? -1) >= 0,
    evidence: [],
  }));
  return withEvidence(tokens, input.evidence);
}

// Sets evidence, given as pairs of positions: the query that answers, and a token that its answer depends on.
function withEvidence(tokens: Token[], pairs: Input['evidence']): Token[] {
  for (const [query, evidence] of pairs) {
    const answer = tokens[query + 1];
    const token = tokens[evidence];
    if (answer && token) answer.evidence.push(token);
  }
  return tokens;
}

// Applies edits in order. Those that are out of range, as in a mistyped link, have no effect.
export function applyEdits(tokens: Token[], edits: Edit[], textOf: (id: number) => string): Token[] {
  // A token that is changed is another object, so evidence must follow by position at the end.
  const evidence = new Map<Token, number[]>(tokens.map((each) => [each, each.evidence.map((token) => token.from)]));
  const result: { token: Token; original: Token | null }[] = tokens.map((each) => ({
    token: { ...each, evidence: [] },
    original: each,
  }));
  for (const edit of edits) {
    if (edit.kind === 'drop') {
      if (edit.at < result.length && result.length > 1) result.splice(edit.at, 1);
    } else if (edit.kind === 'insert') {
      if (edit.at > result.length) continue;
      const token = { id: edit.id, text: textOf(edit.id), from: -1, answer: false, evidence: [] };
      result.splice(edit.at, 0, { token, original: null });
    } else {
      const at = result[edit.at];
      if (at) at.token = { ...at.token, id: edit.id, text: textOf(edit.id) };
    }
  }
  const byOrigin = new Map(result.map(({ token }) => [token.from, token]));
  for (const { token, original } of result) {
    if (!original) continue;
    for (const from of evidence.get(original) ?? []) {
      const found = byOrigin.get(from);
      if (found) token.evidence.push(found);
    }
  }
  return result.map(({ token }) => token);
}

const kLetters = { change: 'c', insert: 'i', drop: 'd' } as const;

// Writes edits for a link: c12.5 changes token 12 to id 5, i4.2 inserts id 2 before token 4, d13 drops token 13.
export function writeEdits(edits: Edit[]): string {
  return edits.map((edit) => kLetters[edit.kind] + edit.at + (edit.kind === 'drop' ? '' : `.${edit.id}`)).join('_');
}

export function readEdits(text: string): Edit[] {
  const edits: Edit[] = [];
  for (const part of text.split('_')) {
    const match = /^([ci])(\d{1,6})\.(\d{1,7})$|^d(\d{1,6})$/.exec(part);
    if (!match) continue;
    if (match[4] !== undefined) edits.push({ kind: 'drop', at: Number(match[4]) });
    else edits.push({ kind: match[1] === 'c' ? 'change' : 'insert', at: Number(match[2]), id: Number(match[3]) });
  }
  return edits;
}

// Returns the query that is looked at first: the last that answers, or the last of all.
export function firstQuery(tokens: Token[]): number {
  for (let i = tokens.length - 1; i > 0; --i) if (tokens[i]?.answer) return i - 1;
  return tokens.length - 1;
}

// Returns the positions of the tokens that the answer of a query depends on.
export function evidenceOf(tokens: Token[], query: number): number[] {
  const wanted = new Set(tokens[query + 1]?.evidence ?? []);
  if (wanted.size === 0) return [];
  return tokens.flatMap((token, i) => (wanted.has(token) ? [i] : []));
}

export interface Score {
  asked: number;
  right: number;
  wrong: number[]; // queries
}

// Compares what a model answers with what comes next, wherever an answer is asked for.
export function scoreOf(tokens: Token[], answers: { id: number }[]): Score {
  const score: Score = { asked: 0, right: 0, wrong: [] };
  for (let i = 1; i < tokens.length; ++i) {
    if (!tokens[i]?.answer) continue;
    ++score.asked;
    if (answers[i - 1]?.id === tokens[i]?.id) ++score.right;
    else score.wrong.push(i - 1);
  }
  return score;
}
