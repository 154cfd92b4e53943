import type { Run, What } from './api.ts';
import { css, paletteOf, type Range, shareOf, type Theme } from './colour.ts';
import { short } from './format.ts';

export const kWhatNames: Record<What, string> = {
  weight: 'Weight',
  score: 'Score S',
  term: 'Position term',
  logit: 'Logit',
  position: 'Distance',
};

// Says what the colours of a matrix mean.
export function Legend(props: { run: Run; what: What; range: Range; theme: Theme }) {
  const { run, what, range, theme } = props;
  const palette = paletteOf(theme);
  const stops = palette.kept.map((colour) => css(colour)).join(', ');
  const ticks = what === 'weight' ? [0, 0.01, 0.1, 0.5, 1] : [range.low, range.high];
  const threshold = run.rule === 'threshold';
  const states: [string, string][] = [];
  if (threshold) states.push([css(palette.dropped[0] ?? palette.zero), 'dropped (S ≤ 0)']);
  if (threshold) states.push([css(palette.skipped), 'skipped by the early stop']);
  if (what === 'weight') states.push([css(palette.zero), 'kept, exactly 0']);
  states.push([css(palette.future), 'future']);
  return (
    <div class="legend">
      <div class="scale">
        <span class="name">{kWhatNames[what]}</span>
        <div class="bar-and-ticks">
          <div class="bar" style={{ background: `linear-gradient(to right, ${stops})` }} />
          {ticks.map((tick, i) => (
            <span
              key={i === 0 ? 'low' : tick}
              class={i === 0 ? 'tick first' : i === ticks.length - 1 ? 'tick last' : 'tick'}
              style={{ left: `${100 * shareOf(what, tick, range)}%` }}
            >
              {what === 'weight' ? tick : short(tick)}
            </span>
          ))}
        </div>
      </div>
      <ul>
        {states.map(([colour, name]) => (
          <li key={name}>
            <i style={{ background: colour }} />
            {name}
          </li>
        ))}
      </ul>
    </div>
  );
}
