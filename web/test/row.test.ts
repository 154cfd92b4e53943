import { expect, test } from 'vitest';
import { kDropped, kKept, kSkipped, type Row, readTile } from '../src/api.ts';
import { exact, percent, short, visible } from '../src/format.ts';
import { aboutToFlip, factsOf, shiftOf, stateName, strongest } from '../src/row.ts';

const rowOf = (state: number[], position: number[], weight: number[], score = weight): Row => ({
  log_gate: -1,
  model_log_gate: -1,
  stopped_at: 0,
  unseen: 0,
  state,
  score,
  position,
  term: position,
  logit: score,
  weight,
});

test('a row says how much it keeps and how far away that is', () => {
  const row = rowOf([kSkipped, kKept, kDropped, kKept, kKept], [4, 3, 2, 2, 1], [0, 0, 0, 0.75, 0.25]);
  expect(factsOf(row)).toEqual({ keys: 5, passed: 4, skipped: 1, zeros: 1, contextual: 1.75, real: 0.75 });
  expect(strongest(row)).toBe(3);
});

test('the keys nearest to the threshold come first, from both sides', () => {
  expect(aboutToFlip(rowOf([], [], [], [0.5, -0.1, 0.2, -3]), 3)).toEqual([1, 2, 0]);
});

test('a row of an edited input is compared key by key with the one before', () => {
  const before = rowOf([kKept, kDropped, kKept, kKept], [3, 2, 2, 1], [0, 0, 0, 1]);
  const row = rowOf([kKept, kKept, kKept, kDropped, kKept], [4, 3, 2, 1, 1], [0, 0, 0, 0, 1]);
  const shift = shiftOf(row, before, [0, 1, -1, 2, 3]);
  expect(shift).toMatchObject({ kept: 1, dropped: 1, further: 1, closer: 0, same: 1 });
  expect(shift.before.get(0)).toBe(3);
});

test('states are said in words, an exact zero apart from a small weight', () => {
  expect(stateName(kKept, 0)).toBe('kept, weight exactly 0');
  expect(stateName(kKept, 1e-30)).toBe('kept');
  expect(stateName(kDropped, 0)).toBe('dropped by the threshold');
});

test('numbers are short in tables and exact elsewhere', () => {
  expect(exact(-0.30000001)).toBe('−0.30000001');
  expect(exact(null)).toBe('−∞');
  expect([0, 3, 0.5, -1.25, 1e-7, 123.456].map(short)).toEqual(['0', '3', '0.5000', '−1.2500', '1.0e−7', '123.46']);
  expect(short(0.99998754)).toBe('0.9999+');
  expect([0, 1, 0.9999, 0.00001, 0.501].map(percent)).toEqual(['0%', '100%', '>99.9%', '<0.1%', '50.1%']);
  expect(visible(' a\n')).toBe('␣a⏎');
  expect(visible('')).toBe('∅');
});

test('bytes become the cells of a tile, and a wrong size is refused', () => {
  const bytes = new ArrayBuffer(10);
  new Float32Array(bytes, 0, 2).set([1.5, -2]);
  new Uint8Array(bytes, 8).set([kKept, kDropped]);
  const tile = readTile(bytes, 1, 2);
  expect([...tile.values, ...tile.states]).toEqual([1.5, -2, kKept, kDropped]);
  expect(() => readTile(bytes, 2, 2)).toThrow('another size');
});
