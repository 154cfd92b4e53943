import { expect, test } from 'vitest';
import { readLink, type View, writeLink } from '../src/state.ts';

const kView: View = {
  panes: [
    { run: 'demo/tra s1 & more', head: { layer: 1, head: 3, attention: 0 }, logGate: -0.25 },
    { run: 'demo/diff', head: { layer: 0, head: 2, attention: 1 }, logGate: null },
  ],
  source: { kind: 'example', split: 'sparse', index: 17, length: 40, factor: 4 },
  edits: [{ kind: 'drop', at: 3 }],
  what: 'logit',
  query: 12,
  key: 7,
};

test('a link says the whole state', () => {
  expect(readLink(writeLink(kView))).toEqual(kView);
  const typed: View = { ...kView, source: { kind: 'typed', text: 'w 1 & r\nx=2 +#%' }, what: 'weight', key: null };
  expect(readLink(writeLink(typed))).toEqual(typed);
});

test('what a link does not say is as at the start', () => {
  expect(readLink('')).toEqual({ panes: [], source: null, edits: [], what: 'weight', query: null, key: null });
});

test('what a link says wrongly is ignored', () => {
  const view = readLink('a=x&ah=one.-2&ag=5&split=iid&n=-1&x=3&show=all&q=1e9&k=k&edit=zzz');
  expect(view.panes).toEqual([{ run: 'x', head: { layer: 0, head: 0, attention: 0 }, logGate: null }]);
  expect(view.source).toEqual({ kind: 'example', split: 'iid', index: 0, length: null, factor: 1 });
  expect([view.what, view.query, view.key, view.edits]).toEqual(['weight', null, null, []]);
  expect(readLink('a=x&ag=-Infinity').panes[0]?.logGate).toBe(null);
  expect(readLink('a=x&ag=').panes[0]?.logGate).toBe(null);
});
