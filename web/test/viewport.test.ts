import { expect, test } from 'vitest';
import { step } from '../src/matrix.tsx';
import { clamp, extent, poolFor, reveal, tilesOf, whole, zoom } from '../src/viewport.ts';

test('zooming keeps the point under the cursor where it is', () => {
  const before = whole(512);
  const after = zoom(before, 2, 0.25, 0.75, 512);
  expect(after.span).toBe(256);
  expect(after.key + 0.25 * after.span).toBe(0.25 * before.span);
  expect(after.query + 0.75 * after.span).toBe(0.75 * before.span);
});

test('no zoom or pan leaves the matrix', () => {
  expect(zoom(whole(100), 0.1, 0.5, 0.5, 100)).toEqual(whole(100));
  expect(zoom(whole(100), 1000, 0, 0, 100).span).toBe(6);
  expect(clamp({ query: -5, key: 95, span: 10 }, 100)).toEqual({ query: 0, key: 90, span: 10 });
  expect(clamp({ query: 3, key: 3, span: 50 }, 4)).toEqual({ query: 0, key: 0, span: 4 });
});

test('a cell outside the part is brought into it, one inside leaves it where it is', () => {
  const view = { query: 10, key: 20, span: 10 };
  expect(reveal(view, 15, 25, 100)).toEqual(view);
  expect(reveal(view, 40, 5, 100)).toEqual({ query: 31, key: 5, span: 10 });
});

test('cells are pooled until one is at least a pixel', () => {
  expect(poolFor(whole(512), 600)).toBe(1);
  expect(poolFor(whole(4096), 600)).toBe(8);
  expect(poolFor({ query: 0, key: 0, span: 600 }, 600)).toBe(1);
});

test('only tiles in view and not wholly in the future are asked for', () => {
  expect(tilesOf(whole(512), 1, 512)).toEqual([{ pool: 1, row: 0, column: 0 }]);
  expect(tilesOf(whole(1025), 1, 1025)).toHaveLength(6);
  expect(tilesOf({ query: 0, key: 512, span: 512 }, 1, 4096)).toEqual([]);
  expect(tilesOf({ query: 1000, key: 600, span: 100 }, 1, 4096)).toEqual([
    { pool: 1, row: 1, column: 1 },
    { pool: 1, row: 2, column: 1 },
  ]);
  expect(extent({ pool: 2, row: 1, column: 0 }, 1, 1500)).toEqual([1024, 1500]);
});

test('keys move the cursor and never to the future', () => {
  expect(step({ query: 5, key: 5 }, 'ArrowRight', false, 10)).toEqual({ query: 5, key: 5 });
  expect(step({ query: 5, key: 5 }, 'ArrowUp', false, 10)).toEqual({ query: 4, key: 4 });
  expect(step({ query: 5, key: 5 }, 'ArrowDown', true, 10)).toEqual({ query: 9, key: 5 });
  expect(step({ query: 5, key: 3 }, 'Home', false, 10)).toEqual({ query: 5, key: 0 });
  expect(step({ query: 5, key: 3 }, 'End', false, 10)).toEqual({ query: 5, key: 5 });
  expect(step({ query: 5, key: 3 }, 'Tab', false, 10)).toBe(null);
});
