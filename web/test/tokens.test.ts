import { expect, test } from 'vitest';
import type { Input } from '../src/api.ts';
import {
  applyEdits,
  evidenceOf,
  firstQuery,
  readEdits,
  scoreOf,
  type Token,
  tokensOf,
  writeEdits,
} from '../src/tokens.ts';

// w1 i0 r1: the read at 4 is answered with 1, which depends on the bit at 1.
const kInput: Input = {
  tokens: [1, 5, 2, 4, 3, 5],
  texts: ['w', '1', 'i', '0', 'r', '1'],
  targets: [-1, -1, -1, -1, 5, -1],
  evidence: [[4, 1]],
};
const kNames = ['pad', 'w', 'i', 'r', '0', '1'];
const edited = (...edits: Parameters<typeof applyEdits>[1]): Token[] =>
  applyEdits(tokensOf(kInput), edits, (id) => kNames[id] ?? '?');
const texts = (tokens: Token[]) => tokens.map((token) => token.text).join('');

test('an input becomes tokens that know what is asked and what it depends on', () => {
  const tokens = tokensOf(kInput);
  expect(texts(tokens)).toBe('w1i0r1');
  expect(tokens.map((token) => token.answer)).toEqual([false, false, false, false, false, true]);
  expect(firstQuery(tokens)).toBe(4);
  expect(evidenceOf(tokens, 4)).toEqual([1]);
  expect(evidenceOf(tokens, 3)).toEqual([]);
});

test('edits apply in order and tokens remember where they came from', () => {
  const tokens = edited(
    { kind: 'drop', at: 2 },
    { kind: 'drop', at: 2 },
    { kind: 'insert', at: 0, id: 2 },
    { kind: 'change', at: 2, id: 4 },
  );
  expect(texts(tokens)).toBe('iw0r1');
  expect(tokens.map((token) => token.from)).toEqual([-1, 0, 1, 4, 5]);
  expect(firstQuery(tokens)).toBe(3);
  expect(evidenceOf(tokens, 3)).toEqual([2]);
});

test('dropping the evidence leaves an answer without it', () => {
  expect(evidenceOf(edited({ kind: 'drop', at: 1 }), 3)).toEqual([]);
});

test('edits leave the input that they start from as it was', () => {
  const tokens = tokensOf(kInput);
  applyEdits(tokens, [{ kind: 'change', at: 1, id: 4 }], () => '0');
  expect(texts(tokens)).toBe('w1i0r1');
  expect(evidenceOf(tokens, 4)).toEqual([1]);
});

test('edits out of range have no effect, and the last token stays', () => {
  expect(
    texts(edited({ kind: 'drop', at: 9 }, { kind: 'change', at: 9, id: 1 }, { kind: 'insert', at: 9, id: 1 })),
  ).toBe('w1i0r1');
  expect(edited(...Array.from({ length: 9 }, () => ({ kind: 'drop' as const, at: 0 })))).toHaveLength(1);
});

test('edits survive a link', () => {
  const edits = readEdits('c12.5_i4.2_d13');
  expect(edits).toEqual([
    { kind: 'change', at: 12, id: 5 },
    { kind: 'insert', at: 4, id: 2 },
    { kind: 'drop', at: 13 },
  ]);
  expect(writeEdits(edits)).toBe('c12.5_i4.2_d13');
  expect(readEdits('')).toEqual([]);
  expect(readEdits('x1_c5_d1.2_i-1.2_c99999999999.1')).toEqual([]);
});

test('answers are compared with what comes next, where it is asked for', () => {
  const answers = [9, 9, 9, 9, 5, 9].map((id) => ({ id }));
  expect(scoreOf(tokensOf(kInput), answers)).toEqual({ asked: 1, right: 1, wrong: [] });
  expect(scoreOf(edited({ kind: 'change', at: 5, id: 4 }), answers)).toEqual({ asked: 1, right: 0, wrong: [4] });
});
