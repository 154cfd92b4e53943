// What the page shows, as a link says it.
import { type Example, type HeadId, kWhat, type What } from './api.ts';
import { type Edit, readEdits, writeEdits } from './tokens.ts';

export interface ExampleSource extends Example {
  kind: 'example';
}
export type Source = ExampleSource | { kind: 'typed'; text: string };

export interface Pane {
  run: string; // its name
  head: HeadId;
  logGate: number | null; // in place of the model's, at the query; null: the model's
}

export interface View {
  panes: Pane[]; // one or two
  source: Source | null; // null: the first example
  edits: Edit[];
  what: What;
  query: number | null; // null: the last that answers
  key: number | null; // null: the one with the largest weight
}

// The input that is shown first: an example that the run was scored on, as long as there.
export function firstSource(splits: string[]): ExampleSource {
  const split = splits.find((each) => each !== 'train') ?? splits[0] ?? '';
  return { kind: 'example', split, index: 0, length: null, factor: 1 };
}

export const kFactors = [1, 4, 16];
export const kEmpty: View = { panes: [], source: null, edits: [], what: 'weight', query: null, key: null };

const whole = (text: string | null | undefined): number | null =>
  text && /^\d{1,9}$/.test(text) ? Number(text) : null;

function writePane(into: URLSearchParams, letter: string, pane: Pane) {
  into.set(letter, pane.run);
  const { layer, head, attention } = pane.head;
  into.set(`${letter}h`, attention === 0 ? `${layer}.${head}` : `${layer}.${head}.${attention}`);
  if (pane.logGate !== null) into.set(`${letter}g`, String(pane.logGate));
}

function readPane(from: URLSearchParams, letter: string): Pane | null {
  const run = from.get(letter);
  if (run === null) return null;
  const [layer, head, attention] = (from.get(`${letter}h`) ?? '').split('.').map(whole);
  const gate = Number(from.get(`${letter}g`) || 'none');
  return {
    run,
    head: { layer: layer ?? 0, head: head ?? 0, attention: attention ?? 0 },
    logGate: gate <= 0 && Number.isFinite(gate) ? gate : null,
  };
}

export function writeLink(view: View): string {
  const link = new URLSearchParams();
  view.panes.forEach((pane, i) => {
    writePane(link, 'ab'[i] ?? 'b', pane);
  });
  if (view.source?.kind === 'example') {
    link.set('split', view.source.split);
    link.set('n', String(view.source.index));
    if (view.source.length !== null) link.set('len', String(view.source.length));
    if (view.source.factor !== 1) link.set('x', String(view.source.factor));
  } else if (view.source) {
    link.set('text', view.source.text);
  }
  if (view.edits.length > 0) link.set('edit', writeEdits(view.edits));
  if (view.what !== 'weight') link.set('show', view.what);
  if (view.query !== null) link.set('q', String(view.query));
  if (view.key !== null) link.set('k', String(view.key));
  return link.toString();
}

// Reads a link; what it does not say, or says wrongly, is as in an empty one.
export function readLink(text: string): View {
  const link = new URLSearchParams(text);
  const panes = ['a', 'b'].map((letter) => readPane(link, letter)).filter((pane) => pane !== null);
  const split = link.get('split');
  const typed = link.get('text');
  const factor = whole(link.get('x')) ?? 1;
  let source: Source | null = null;
  if (typed !== null) source = { kind: 'typed', text: typed };
  else if (split !== null) {
    source = {
      kind: 'example',
      split,
      index: whole(link.get('n')) ?? 0,
      length: whole(link.get('len')) || null,
      factor: kFactors.includes(factor) ? factor : 1,
    };
  }
  return {
    panes,
    source,
    edits: readEdits(link.get('edit') ?? ''),
    what: kWhat.find((each) => each === link.get('show')) ?? 'weight',
    query: whole(link.get('q')),
    key: whole(link.get('k')),
  };
}
