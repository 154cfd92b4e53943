// Every number of a row, as a table: what the pictures show, for reading and for screen readers.
import { useEffect, useRef, useState } from 'preact/hooks';
import { kDropped, kKept, kSkipped, type Row, type Run } from './api.ts';
import { exact, short, visible } from './format.ts';
import { aboutToFlip, type Shift, stateName } from './row.ts';
import type { Token } from './tokens.ts';

// Names what a rule counts and what it adds to the score.
export const kRuleWords: Record<Run['rule'], { position: string; term: string; about: string }> = {
  threshold: {
    position: 'Count',
    term: 'count × g',
    about: 'Keys that do not score above 0 are dropped; distance counts kept keys, from the query backwards.',
  },
  forget: {
    position: 'Tokens',
    term: 'Σ log f',
    about: 'Every key takes part; the forget gates of the tokens in between add up.',
  },
  distance: { position: 'Tokens', term: 'bias', about: 'Every key takes part; a bias is learned for each distance.' },
  contextual: {
    position: 'Position',
    term: 'q · e',
    about: 'Every key takes part; positions are sums of gates, and each has an embedding.',
  },
  softmax: { position: 'Tokens', term: '', about: 'Every key takes part; the score is the logit.' },
};

const kFilters = { all: 'All keys', kept: 'Kept', flip: 'Nearest to the threshold' } as const;
type Filter = keyof typeof kFilters;
const kFirst = 128; // rows that are shown at first

interface Props {
  id: string;
  run: Run;
  row: Row;
  query: number;
  tokens: Token[];
  chosen: number;
  shift: Shift | null;
  onKey: (key: number) => void;
}

export function RowTable({ id, run, row, query, tokens, chosen, shift, onKey }: Props) {
  const [filter, setFilter] = useState<Filter>('all');
  const [limit, setLimit] = useState(kFirst);
  const scroller = useRef<HTMLDivElement>(null);
  const words = kRuleWords[run.rule];
  const threshold = run.rule === 'threshold';
  const active = threshold ? filter : 'all';

  let keys: number[];
  if (active === 'flip') {
    keys = aboutToFlip(row, 12);
  } else {
    keys = row.state.map((_, i) => query - i);
    if (active === 'kept') keys = keys.filter((key) => row.state[key] === kKept || row.state[key] === kSkipped);
  }
  // The first keys, and around the chosen one if that is further on.
  const at = keys.indexOf(chosen);
  const around = at < limit ? [] : keys.slice(Math.max(at - 6, limit), at + 7);
  const shown = [...keys.slice(0, limit), ...around];

  useEffect(() => {
    const box = scroller.current;
    const line = box?.querySelector<HTMLElement>('tr[aria-current=true]');
    if (!line || !box) return;
    const top = line.offsetTop - 34;
    if (top < box.scrollTop || line.offsetTop + line.offsetHeight > box.scrollTop + box.clientHeight) {
      box.scrollTop = top - box.clientHeight / 3;
    }
  }, [chosen, query, active]);

  return (
    <div class="row-table">
      {threshold && (
        <fieldset class="segments small">
          <legend class="hidden">Keys in the table</legend>
          {(Object.keys(kFilters) as Filter[]).map((each) => (
            <label key={each}>
              <input type="radio" name={`filter-${id}`} checked={filter === each} onChange={() => setFilter(each)} />
              <span>{kFilters[each]}</span>
            </label>
          ))}
        </fieldset>
      )}
      <section class="scroller" ref={scroller} tabIndex={0} aria-label="Keys of this row">
        <table>
          <caption class="hidden">
            Keys of query {query}, {active === 'flip' ? 'the nearest to the threshold first' : 'the latest first'}
          </caption>
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col" class="text">
                Token
              </th>
              <th scope="col">S</th>
              <th scope="col">{words.position}</th>
              {words.term && (
                <th scope="col" class="term">
                  {words.term}
                </th>
              )}
              {words.term && <th scope="col">Logit</th>}
              <th scope="col" class="weight">
                Weight
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((key) => {
              const state = row.state[key];
              const weight = row.weight[key] ?? 0;
              const dropped = state === kDropped;
              const before = shift?.before.get(key);
              const position = row.position[key] ?? 0;
              const kind = dropped ? 'dropped' : state === kSkipped ? 'skipped' : weight === 0 ? 'zero' : 'kept';
              return (
                <tr
                  key={key}
                  class={key === around[0] && at - 6 > limit ? `${kind} apart` : kind}
                  aria-current={key === chosen ? 'true' : undefined}
                  title={stateName(state, weight)}
                  onClick={() => onKey(key)}
                >
                  <th scope="row">{key}</th>
                  <td class="text">
                    <i aria-hidden="true" />
                    <code>{visible(tokens[key]?.text ?? '')}</code>
                  </td>
                  <td title={exact(row.score[key] ?? 0)}>{short(row.score[key] ?? 0)}</td>
                  <td class={dropped ? 'why' : ''}>
                    {!dropped && before !== undefined && before !== position && (
                      <span class="moved">
                        {short(before)}
                        <span class="hidden"> before the edit, now </span>
                        <span aria-hidden="true"> → </span>
                      </span>
                    )}
                    {dropped ? 'dropped' : short(position)}
                  </td>
                  {words.term && (
                    <td class="term" title={dropped ? '' : exact(row.term[key] ?? 0)}>
                      {dropped ? '' : short(row.term[key] ?? 0)}
                    </td>
                  )}
                  {words.term && (
                    <td title={dropped ? '' : exact(row.logit[key] ?? null)}>
                      {dropped ? '' : short(row.logit[key] ?? null)}
                    </td>
                  )}
                  <td class="weight" title={exact(weight)}>
                    <b style={{ width: `${weight * 100}%` }} aria-hidden="true" />
                    <span>{state === kSkipped ? '0, skipped' : short(weight)}</span>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
        {shown.length === 0 && <p class="empty">This query keeps no key: the head adds nothing here.</p>}
        {shown.length < keys.length && (
          <button type="button" class="more" onClick={() => setLimit(limit + 512)}>
            Show more of {keys.length} keys
          </button>
        )}
      </section>
    </div>
  );
}
