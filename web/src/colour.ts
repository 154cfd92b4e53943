// Colours of cells. Weights lie on a sequence of blues; what has no weight has a colour that no weight can have. The
// colours differ in lightness and stay apart in the common forms of colour blindness.
import { kDropped, kFuture, kKept, kSkipped, type Tile, type What } from './api.ts';

export type Theme = 'light' | 'dark';
type Rgb = readonly [number, number, number];

interface Palette {
  kept: readonly Rgb[]; // from the least to the most
  dropped: readonly Rgb[]; // the first where only the state is shown; to the last for scores far below the threshold
  skipped: Rgb;
  zero: Rgb;
  future: Rgb;
}

const hex = (text: string): Rgb => {
  const value = Number.parseInt(text, 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
};
const all = (...texts: string[]) => texts.map(hex);

const kPalettes: Record<Theme, Palette> = {
  light: {
    kept: all('dcebf9', 'a9cdee', '6fa9dd', '3a80c4', '1b5a9e', '0a3266'),
    dropped: all('f6d8b2', 'eeb877', 'd98c3a'),
    skipped: hex('b583a8'),
    zero: hex('bdbcb0'),
    future: hex('f9f9f7'),
  },
  dark: {
    kept: all('1b3450', '235380', '3478b4', '5b9fd8', '96c6ee', 'e2f1ff'),
    dropped: all('4c3822', '7a5526', 'b57b30'),
    skipped: hex('6b4160'),
    zero: hex('77756c'),
    future: hex('17191c'),
  },
};

export function mix(colours: readonly Rgb[], share: number): Rgb {
  const at = Math.min(Math.max(share, 0), 1) * (colours.length - 1);
  const below = Math.min(Math.floor(at), colours.length - 2);
  const [low, high] = [colours[below] as Rgb, colours[below + 1] as Rgb];
  const part = at - below;
  const between = (c: 0 | 1 | 2) => Math.round(low[c] + (high[c] - low[c]) * part);
  return [between(0), between(1), between(2)];
}

// Holds what the ends of the sequence stand for.
export interface Range {
  low: number;
  high: number;
}

// Returns where a value lies on the sequence. Weights are raised to a power, so that 1/500 still differs from nothing.
export function shareOf(what: What, value: number, range: Range): number {
  if (what === 'weight') return Math.abs(value) ** 0.4;
  return range.high > range.low ? (value - range.low) / (range.high - range.low) : 1;
}

export function rangeOf(what: What, tiles: Iterable<Tile>): Range {
  if (what === 'weight') return { low: 0, high: 1 };
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const tile of tiles) {
    for (let i = 0; i < tile.states.length; ++i) {
      const value = tile.values[i] as number;
      const counts = tile.states[i] === kKept || tile.states[i] === kSkipped;
      if (!counts || !Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low <= high ? { low, high } : { low: 0, high: 0 };
}

export const css = ([r, g, b]: Rgb) => `rgb(${r} ${g} ${b})`;

export function paletteOf(theme: Theme): Palette {
  return kPalettes[theme];
}

// Returns the colour of a cell.
export function colourOf(theme: Theme, what: What, state: number, value: number, range: Range): Rgb {
  const palette = kPalettes[theme];
  switch (state) {
    case kFuture:
      return palette.future;
    case kDropped:
      return what === 'score' ? mix(palette.dropped, -value / Math.max(range.high, 1e-6)) : (palette.dropped[0] as Rgb);
    case kSkipped:
      return palette.skipped;
    default:
      if (what === 'weight' && value === 0) return palette.zero;
      return mix(palette.kept, shareOf(what, value, range));
  }
}

// Fills pixels with the colours of a tile's cells.
export function paint(tile: Tile, theme: Theme, what: What, range: Range, pixels: Uint8ClampedArray) {
  const kSteps = 255;
  const palette = kPalettes[theme];
  const kept = Array.from({ length: kSteps + 1 }, (_, i) => mix(palette.kept, i / kSteps));
  for (let i = 0; i < tile.states.length; ++i) {
    const state = tile.states[i] as number;
    const value = tile.values[i] as number;
    const weightless = what === 'weight' && value === 0;
    let colour: Rgb;
    if (state === kKept && !weightless) {
      const share = Math.min(Math.max(shareOf(what, value, range), 0), 1);
      colour = kept[Math.round(share * kSteps)] ?? (kept[0] as Rgb);
    } else {
      colour = colourOf(theme, what, state, value, range);
    }
    pixels[4 * i] = colour[0];
    pixels[4 * i + 1] = colour[1];
    pixels[4 * i + 2] = colour[2];
    pixels[4 * i + 3] = 255;
  }
}
