// The ruler: above, every key at its distance in tokens; below, only the kept ones, at the distance the rule counts.
import { useEffect, useRef } from 'preact/hooks';
import { kDropped, kKept, kSkipped, type Row, type Run } from './api.ts';
import { css, mix, paletteOf, shareOf, type Theme } from './colour.ts';
import { count, visible } from './format.ts';
import { contextOf, cssColour, useWidth } from './hooks.ts';
import { factsOf } from './row.ts';
import type { Token } from './tokens.ts';

const kTop = 42;
const kBottom = 124;
const kBars = 40;
const kHeight = kBottom + kBars + 40;
const kSide = 12;
const kMostLines = 200;

interface Props {
  run: Run;
  row: Row;
  tokens: Token[];
  chosen: number; // key
  evidence: number[];
  theme: Theme;
}

export function Ruler({ run, row, tokens, chosen, evidence, theme }: Props) {
  const [width, measured] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current && width > 0 ? contextOf(canvas.current, width, kHeight) : null;
    if (context) draw(context, width, run, row, tokens, chosen, evidence, theme);
  }, [width, row, tokens, chosen, evidence, theme]);
  const facts = factsOf(row);
  const summary =
    `${count(facts.keys, 'key')} on a ruler of tokens, of which ${facts.passed} stand on a ruler of their own. ` +
    'The table below has every number.';
  return (
    <div class="ruler" ref={measured}>
      <canvas ref={canvas} role="img" aria-label={summary} style={{ width: `${width}px`, height: `${kHeight}px` }} />
    </div>
  );
}

// Returns ticks at round distances with room between them.
function ticks(longest: number, pixels: number, from: number): number[] {
  const unit = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000].find((each) => each * pixels >= 30) ?? 5000;
  const found: number[] = [];
  for (let at = unit === 1 ? from : 0; at <= longest; at += unit) if (at >= from) found.push(at);
  return found;
}

function draw(
  context: CanvasRenderingContext2D,
  width: number,
  run: Run,
  row: Row,
  tokens: Token[],
  chosen: number,
  evidence: number[],
  theme: Theme,
) {
  const keys = row.state.length;
  const palette = paletteOf(theme);
  const right = width - kSide;
  const room = width - 2 * kSide;
  const above = Math.min(room / keys, 44);
  const xAbove = (key: number) => right - (keys - 1 - key + 0.5) * above;
  // Distances of a threshold begin at 1, at the key itself; those of the other rules at 0.
  const from = run.rule === 'threshold' ? 1 : 0;
  let farthest = from;
  row.state.forEach((state, key) => {
    if (state !== kDropped) farthest = Math.max(farthest, row.position[key] ?? 0);
  });
  const below = Math.min(room / (farthest - from + 1), 44);
  const xBelow = (key: number) => right - ((row.position[key] ?? 0) - from + 0.5) * below;

  const ink = cssColour('--ink');
  const quiet = cssColour('--quiet');
  const line = cssColour('--line');
  context.font = '10.5px system-ui, sans-serif';
  context.textBaseline = 'middle';
  const axis = (y: number, size: number, first: number, last: number, at: (distance: number) => number) => {
    context.textAlign = 'center';
    context.fillStyle = quiet;
    for (const tick of ticks(last, size, first)) {
      const x = at(tick);
      if (x > kSide / 2) context.fillText(String(tick), x, y);
    }
  };
  axis(10, above, 0, keys - 1, (distance) => right - (distance + 0.5) * above);
  axis(kHeight - 8, below, from, farthest, (distance) => right - (distance - from + 0.5) * below);
  context.strokeStyle = line;
  context.lineWidth = 1;
  context.beginPath();
  for (const y of [kTop, kBottom]) {
    context.moveTo(kSide, y + 0.5);
    context.lineTo(right, y + 0.5);
  }
  context.stroke();

  // Keys that play no part: short ticks on the upper rail.
  const half = Math.min(Math.max(above * 0.32, 0.6), 4);
  const mark = (x: number, colour: string, height: number) => {
    context.fillStyle = colour;
    context.fillRect(x - half, kTop - height, 2 * half, 2 * height);
  };
  row.state.forEach((state, key) => {
    if (state === kDropped) mark(xAbove(key), css(palette.dropped[1] ?? palette.zero), 3);
    if (state === kSkipped) mark(xAbove(key), css(palette.skipped), 5);
  });

  // The others: a line from where they are to where they count as being, and below it their weight.
  const order = row.state.map((_, key) => key).filter((key) => row.state[key] === kKept || row.state[key] === kSkipped);
  order.sort((a, b) => (row.weight[a] ?? 0) - (row.weight[b] ?? 0));
  // Of very many, only the heaviest have lines: the others would be a cloud, and slow to draw.
  const lined = new Set(order.slice(-kMostLines));
  for (const key of order) {
    const weight = row.weight[key] ?? 0;
    const share = shareOf('weight', weight, { low: 0, high: 1 });
    const nothing = row.state[key] === kSkipped || weight === 0;
    const colour =
      row.state[key] === kSkipped
        ? palette.skipped
        : weight === 0
          ? palette.zero
          : mix(palette.kept, 0.25 + 0.75 * share);
    const [x, y] = [xAbove(key), xBelow(key)];
    context.strokeStyle = css(colour);
    context.globalAlpha = nothing ? Math.min(0.4, 40 / order.length) : 0.35 + 0.65 * share;
    context.lineWidth = nothing ? 0.75 : 0.75 + 1.75 * share;
    if (lined.has(key)) {
      context.beginPath();
      context.moveTo(x, kTop + 6);
      context.bezierCurveTo(x, kTop + 40, y, kBottom - 40, y, kBottom - 4);
      context.stroke();
    }
    context.globalAlpha = 1;
    mark(x, css(colour), 6);
    context.fillStyle = css(colour);
    const bar = Math.min(Math.max(below * 0.6, 1), 16);
    if (weight > 0) context.fillRect(y - bar / 2, kBottom + 1, bar, Math.max(weight * kBars, 1));
    else context.fillRect(y - bar / 2, kBottom - 1, bar, 2);
  }

  // Names of tokens, where there is room; the chosen key always.
  const name = (key: number) => visible(tokens[key]?.text ?? '').slice(0, 4);
  context.font = '11px ui-monospace, monospace';
  context.textAlign = 'center';
  context.fillStyle = ink;
  let labelled = Number.NEGATIVE_INFINITY; // where the last name below stands; contextual positions may be close
  row.state.forEach((state, key) => {
    if (key !== chosen && above >= 13) {
      context.fillStyle = state === kDropped ? quiet : ink;
      context.fillText(name(key), xAbove(key), kTop - 17);
    }
    const apart = Math.min(xBelow(key) - labelled, Math.abs(xBelow(key) - xBelow(chosen)));
    if (state !== kDropped && below >= 13 && key !== chosen && apart >= 10) {
      labelled = xBelow(key);
      context.fillStyle = quiet;
      const weight = row.weight[key] ?? 0;
      context.fillText(name(key), xBelow(key), kBottom + weight * kBars + 10);
    }
  });
  const place = (x: number) => Math.min(Math.max(x, kSide), right);
  context.font = '600 11px ui-monospace, monospace';
  context.fillStyle = cssColour('--cursor');
  context.fillText(name(chosen), place(xAbove(chosen)), kTop - 17);
  if (row.state[chosen] !== kDropped && row.state[chosen] !== undefined) {
    context.fillText(name(chosen), place(xBelow(chosen)), kBottom + (row.weight[chosen] ?? 0) * kBars + 10);
  }
  context.strokeStyle = cssColour('--evidence');
  context.lineWidth = 1.75;
  for (const key of evidence) {
    context.beginPath();
    context.arc(xAbove(key), kTop, 7.5, 0, 7);
    context.stroke();
  }
}
