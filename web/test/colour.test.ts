import { expect, test } from 'vitest';
import { kDropped, kFuture, kKept, kSkipped, type Tile } from '../src/api.ts';
import { colourOf, paint, paletteOf, rangeOf, type Theme } from '../src/colour.ts';

const kThemes: Theme[] = ['light', 'dark'];
const kWeights = { low: 0, high: 1 };

// Simulates how people without one kind of cone see a colour (Viénot, Brettel and Mollon 1999, on linear light).
function seen(rgb: readonly number[], kind: 'all' | 'protan' | 'deutan'): number[] {
  const linear = rgb.map((c) => (c / 255) ** 2.2);
  const [r, g, b] = linear as [number, number, number];
  const [share, red] = kind === 'protan' ? [0.88762, 0.11238] : [0.70693, 0.29275];
  const mixed = kind === 'all' ? [r, g, b] : [red * r + share * g, red * r + share * g, 0.004 * (r - g) + b];
  return mixed.map((c) => 255 * Math.max(c, 0) ** (1 / 2.2));
}
const apart = (a: number[], b: number[]) => Math.hypot(...a.map((c, i) => c - (b[i] ?? 0)));

test('what has no weight has a colour that no weight has, also for the colour-blind', () => {
  for (const theme of kThemes) {
    for (const kind of ['all', 'protan', 'deutan'] as const) {
      const weights = Array.from({ length: 101 }, (_, i) =>
        seen(colourOf(theme, 'weight', kKept, Math.max(i / 100, 1e-12), kWeights), kind),
      );
      const states = [
        colourOf(theme, 'weight', kDropped, 0, kWeights),
        colourOf(theme, 'weight', kSkipped, 0, kWeights),
        colourOf(theme, 'weight', kKept, 0, kWeights),
        colourOf(theme, 'weight', kFuture, 0, kWeights),
      ].map((colour) => seen(colour, kind));
      states.forEach((state, i) => {
        for (const weight of weights) expect(apart(state, weight), `${theme} ${kind} ${i}`).toBeGreaterThan(20);
        for (const other of states.slice(0, i))
          expect(apart(state, other), `${theme} ${kind} ${i}`).toBeGreaterThan(20);
      });
    }
  }
});

test('weights grow steadily along the sequence', () => {
  for (const theme of kThemes) {
    const light = paletteOf(theme).kept.map(([r, g, b]) => 0.3 * r + 0.6 * g + 0.1 * b);
    const sorted = [...light].sort((a, b) => (theme === 'light' ? b - a : a - b));
    expect(light).toEqual(sorted);
  }
});

test('a painted tile has the colour of each cell', () => {
  const tile: Tile = {
    rows: 1,
    columns: 4,
    values: new Float32Array([0.5, -2, 0, 0]),
    states: new Uint8Array([kKept, kDropped, kSkipped, kFuture]),
  };
  const pixels = new Uint8ClampedArray(16);
  paint(tile, 'light', 'weight', kWeights, pixels);
  for (let i = 0; i < 4; ++i) {
    const expected = colourOf('light', 'weight', tile.states[i] as number, tile.values[i] as number, kWeights);
    expected.forEach((c, channel) => {
      expect(Math.abs((pixels[4 * i + channel] as number) - c)).toBeLessThan(3);
    });
  }
});

test('the range is that of keys that take part', () => {
  const tile: Tile = {
    rows: 1,
    columns: 4,
    values: new Float32Array([0.5, -9, Number.NaN, 2]),
    states: new Uint8Array([kKept, kDropped, kKept, kKept]),
  };
  expect(rangeOf('score', [tile])).toEqual({ low: 0.5, high: 2 });
  expect(rangeOf('weight', [tile])).toEqual({ low: 0, high: 1 });
  expect(rangeOf('score', [])).toEqual({ low: 0, high: 0 });
});
