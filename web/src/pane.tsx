// One run: its heads, the matrix of the chosen one, and the row at the cursor in detail.
import { useEffect, useMemo, useState } from 'preact/hooks';
import * as api from './api.ts';
import type { Range, Theme } from './colour.ts';
import { count, exact, percent, short, visible } from './format.ts';
import { HeadPicker } from './heads.tsx';
import { type Answered, useAnswer, useSettled } from './hooks.ts';
import { Legend } from './legend.tsx';
import { type Cell, Matrix } from './matrix.tsx';
import { aboutToFlip, factsOf, shiftOf, stateName, strongest } from './row.ts';
import { kRuleWords, RowTable } from './rowtable.tsx';
import { Ruler } from './ruler.tsx';
import type { Pane } from './state.ts';
import { evidenceOf, scoreOf, type Token } from './tokens.ts';
import type { Viewport } from './viewport.ts';

interface Props {
  letter: string;
  run: api.Run;
  pane: Pane;
  tokens: Token[];
  length: number; // how many of them the model reads
  base: Token[]; // before the edits
  change: string | null; // what made the input differ from the base, in words
  answers: Answered<api.Prediction[]>;
  what: api.What;
  query: number; // that was chosen
  chosenKey: number | null;
  hover: Cell | null;
  viewport: Viewport;
  theme: Theme;
  onPane: (pane: Pane) => void;
  onViewport: (viewport: Viewport) => void;
  onHover: (cell: Cell | null) => void;
  onChoose: (cell: Cell) => void;
  onSaid: (text: string) => void;
}

interface RowHere {
  head: api.HeadId;
  row: api.Row;
  query: number;
  tokens: Token[];
}

const kLeastLogGate = -8;

export function PaneView(props: Props) {
  const { letter, run, pane, tokens: all, length, base, change, what, query, chosenKey, hover, theme } = props;
  const { head } = pane;
  const threshold = run.rule === 'threshold';
  const [range, setRange] = useState<Range>({ low: 0, high: 1 });
  const tokens = useMemo(() => all.slice(0, length), [all, length]);
  const ids = useMemo(() => tokens.map((token) => token.id), [tokens]);
  const shownQuery = Math.min(hover?.query ?? query, tokens.length - 1);
  const gate = shownQuery === query ? pane.logGate : null;
  const place = `${run.id}:${head.layer}.${head.head}.${head.attention}:${ids.join()}`;
  const answer = useAnswer<RowHere>(`${place}:${shownQuery}:${gate}`, async (signal) => {
    return { head, row: await api.row(run, ids, head, shownQuery, gate, signal), query: shownQuery, tokens };
  });
  const here = answer.value?.tokens === tokens ? answer.value : null;

  const from = change !== null && base.length > 0 ? (tokens[shownQuery]?.from ?? -1) : -1;
  const baseIds = useMemo(() => base.map((token) => token.id), [base]);
  const beforeKey = `${run.id}:${head.layer}.${head.head}.${head.attention}:${baseIds.join()}:${from}`;
  const before = useAnswer<api.Row>(from < 0 ? null : beforeKey, (signal) =>
    api.row(run, baseIds, head, from, null, signal),
  );
  const shift = useMemo(() => {
    if (!here || !before.value || before.key !== beforeKey || here.query !== shownQuery) return null;
    return shiftOf(
      here.row,
      before.value,
      tokens.map((token) => token.from),
    );
  }, [here, before, beforeKey]);

  const key = hover
    ? Math.min(hover.key, shownQuery)
    : Math.min(chosenKey ?? (here && here.query === shownQuery ? strongest(here.row) : shownQuery), shownQuery);
  const cell = useMemo(() => ({ query: shownQuery, key }), [shownQuery, key]);
  const said = useMemo(() => say(run, here, cell, tokens), [here, cell, tokens]);
  useEffect(() => props.onSaid(said), [said]);
  const evidence = useMemo(() => evidenceOf(all, shownQuery), [all, shownQuery]);

  const now = useMemo(() => ({ here, key, shift }), [here, key, shift]);
  const settled = useSettled(now, hover ? 80 : 0);

  const picker = useMemo(
    () => (
      <HeadPicker
        label={`Head of run ${letter}`}
        run={run}
        head={head}
        tokens={tokens}
        theme={theme}
        onHead={(chosen) => props.onPane({ ...pane, head: chosen, logGate: null })}
      />
    ),
    [run, pane, tokens, theme],
  );
  const table = useMemo(
    () =>
      settled.here && (
        <RowTable
          id={letter}
          run={run}
          row={settled.here.row}
          query={settled.here.query}
          tokens={settled.here.tokens}
          chosen={settled.key}
          shift={settled.shift}
          onKey={(chosen) => settled.here && props.onChoose({ query: settled.here.query, key: chosen })}
        />
      ),
    [run, settled],
  );
  const ruler = useMemo(
    () => here && <Ruler run={run} row={here.row} tokens={tokens} chosen={key} evidence={evidence} theme={theme} />,
    [run, here, key, evidence, theme],
  );

  return (
    <section class="pane" data-pane={letter} aria-label={`Run ${letter}: ${run.title}`} aria-busy={answer.busy}>
      <header>
        <h2>
          <span class="letter">{letter}</span>
          {run.title}
        </h2>
        <p class="quiet">
          {count(run.layers, 'layer')}, {count(run.heads, 'head')}, {count(run.parameters, 'parameter')}, step{' '}
          {run.step.toLocaleString('en')}
        </p>
      </header>
      <div class="pane-heads">{picker}</div>
      <div class="pane-matrix">
        <Matrix
          name={run.title}
          run={run}
          head={head}
          what={what}
          tokens={tokens}
          cell={cell}
          said={said}
          evidence={evidence}
          viewport={props.viewport}
          theme={theme}
          onViewport={props.onViewport}
          onHover={props.onHover}
          onChoose={props.onChoose}
          onRange={(low, high) => setRange({ low, high })}
        />
        <Legend run={run} what={what} range={range} theme={theme} />
      </div>
      {/* Each part has a place of its own, so that those of two runs stand side by side. */}
      <div class={here && here.head !== head ? 'pane-row stale' : 'pane-row'}>
        <div class="place-verdict">
          <Verdict query={shownQuery} tokens={all} answers={props.answers} />
          {answer.error && (
            <p class="error" role="alert">
              {answer.error}
            </p>
          )}
        </div>
        <div class="place-equation">{here && <Equation run={run} here={here} cell={cell} />}</div>
        <div class="place-gate">
          {here && threshold && (
            <Gate
              letter={letter}
              row={here.row}
              fixed={shownQuery !== query}
              value={pane.logGate}
              onGate={(logGate) => props.onPane({ ...pane, logGate })}
            />
          )}
        </div>
        <div class="place-facts">{here && <Facts run={run} here={here} shift={shift} change={change} />}</div>
        <div class="place-ruler">
          <h3>
            Ruler{' '}
            <span class="quiet">
              tokens back from the query above, {threshold ? 'kept keys' : 'what the rule counts'} below
            </span>
          </h3>
          {ruler ?? <div class="waiting ruler-waiting" />}
        </div>
        <div class="place-margin">
          {here && threshold && (
            <Margin here={here} onKey={(chosen) => props.onChoose({ query: here.query, key: chosen })} />
          )}
        </div>
        <div class="place-table">{table}</div>
      </div>
    </section>
  );
}

// Says the cell at the cursor, for the live region and the label of the matrix.
function say(run: api.Run, here: RowHere | null, cell: Cell, tokens: Token[]): string {
  const named = (i: number) => `${i} ${visible(tokens[i]?.text ?? '')}`;
  const start = `query ${named(cell.query)}, key ${named(cell.key)}`;
  if (!here || here.query !== cell.query) return start;
  const { row } = here;
  const weight = row.weight[cell.key] ?? 0;
  const state = row.state[cell.key];
  const score = `score ${short(row.score[cell.key] ?? 0)}`;
  if (state === api.kDropped) return `${start}: ${score}, ${stateName(state, weight)}`;
  const position = `${kRuleWords[run.rule].position.toLowerCase()} ${short(row.position[cell.key] ?? 0)}`;
  return `${start}: ${score}, ${position}, weight ${short(weight)}, ${stateName(state, weight)}`;
}

// What the model answers at the query, and whether that is right.
function Verdict(props: { query: number; tokens: Token[]; answers: Answered<api.Prediction[]> }) {
  const { query, tokens, answers } = props;
  const prediction = answers.value?.[query];
  const next = tokens[query + 1];
  const asked = next?.answer === true;
  const right = asked && prediction?.id === next.id;
  return (
    <p class="verdict">
      <span>
        Query <b>{query}</b> <code>{visible(tokens[query]?.text ?? '')}</code>
      </span>
      {prediction && (
        <span class={asked ? (right ? 'right' : 'wrong') : ''}>
          answers <code>{visible(prediction.text)}</code> <span class="quiet">{percent(prediction.probability)}</span>
          {asked && (right ? ' ✓ right' : ' ✗ wrong: ')}
          {asked && !right && <code>{visible(next.text)}</code>}
          {asked && !right && ' comes next'}
        </span>
      )}
    </p>
  );
}

// The logit of the cell at the cursor as a sum of its parts, with all their digits.
function Equation({ run, here, cell }: { run: api.Run; here: RowHere; cell: Cell }) {
  const { row } = here;
  const at = here.query === cell.query ? cell.key : Math.min(cell.key, here.query);
  const state = row.state[at];
  const weight = row.weight[at] ?? 0;
  const words = kRuleWords[run.rule];
  const part = (name: string, text: string, kind = '') => (
    <span class={`part ${kind}`}>
      <small>{name}</small>
      <output data-part={name}>{text}</output>
    </span>
  );
  return (
    <div class="equation" data-head={`${here.head.layer}.${here.head.head}`} data-query={here.query} data-key={at}>
      <span class="part key">
        <small>key</small>
        <span>
          {at} <code>{visible(here.tokens[at]?.text ?? '')}</code>
        </span>
      </span>
      {part('S', exact(row.score[at] ?? 0))}
      {state === api.kDropped ? (
        <>
          <i>≤ 0</i>
          {part('weight', '0, dropped', 'dropped')}
        </>
      ) : (
        <>
          {words.term !== '' && <i>+</i>}
          {run.rule === 'threshold' && part('count', exact(row.position[at] ?? 0))}
          {run.rule === 'threshold' && <i>×</i>}
          {run.rule === 'threshold' && part('g = log gate', exact(row.log_gate))}
          {run.rule !== 'threshold' && words.term !== '' && part(words.term, exact(row.term[at] ?? 0))}
          {words.term !== '' && <i>=</i>}
          {words.term !== '' && part('logit', exact(row.logit[at] ?? null))}
          <i>→</i>
          {part('weight', state === api.kSkipped ? '0, skipped' : exact(weight), 'result')}
        </>
      )}
    </div>
  );
}

function Gate(props: {
  letter: string;
  row: api.Row;
  fixed: boolean;
  value: number | null;
  onGate: (logGate: number | null) => void;
}) {
  const own = props.row.model_log_gate ?? 0;
  const value = props.fixed ? own : (props.value ?? own);
  const least = Math.min(kLeastLogGate, Math.floor(own));
  return (
    <div class="gate">
      <label for={`gate-${props.letter}`}>Gate</label>
      <input
        id={`gate-${props.letter}`}
        type="range"
        min={least}
        max={0}
        step={0.01}
        value={value}
        disabled={props.fixed}
        aria-valuetext={`gate ${short(Math.exp(value))}, log gate ${short(value)}`}
        onInput={(event) => props.onGate(Math.min(Number(event.currentTarget.value), 0))}
      />
      <span class="numbers">
        {short(Math.exp(props.row.log_gate ?? 0))}
        <span class="quiet"> log {short(props.row.log_gate)}</span>
      </span>
      <button type="button" disabled={props.value === null} onClick={() => props.onGate(null)}>
        Model's
      </button>
    </div>
  );
}

function Facts(props: {
  run: api.Run;
  here: RowHere;
  shift: ReturnType<typeof shiftOf> | null;
  change: string | null;
}) {
  const { run, here, shift, change } = props;
  const facts = factsOf(here.row);
  const threshold = run.rule === 'threshold';
  return (
    <div class="facts">
      <p>
        {threshold ? (
          <>
            Keeps <b>{facts.passed}</b> of {count(facts.keys, 'key')}.{' '}
            {facts.passed > 0 && (
              <>
                Their mean distance, by weight: {facts.contextual.toFixed(2)} kept keys, {facts.real.toFixed(2)} tokens.{' '}
              </>
            )}
            {facts.skipped > 0 &&
              `The early stop skipped ${count(facts.skipped, 'kept key')} before key ${here.row.stopped_at}, which weigh less than ${short(here.row.unseen)} together. `}
          </>
        ) : (
          <>
            {kRuleWords[run.rule].about} Their mean distance, by weight: {facts.real.toFixed(2)} tokens.{' '}
          </>
        )}
        {facts.zeros > 0 &&
          `${count(facts.zeros, 'weight')} of kept keys ${facts.zeros === 1 ? 'is' : 'are'} exactly 0.`}
      </p>
      {change !== null && shift && (
        <p class="shift">
          {change}: {count(shift.same, 'kept key')} where {shift.same === 1 ? 'it was' : 'they were'},{' '}
          <b>{shift.further}</b> further, <b>{shift.closer}</b> closer; <b>{shift.dropped}</b> newly dropped,{' '}
          <b>{shift.kept}</b> newly kept.
        </p>
      )}
    </div>
  );
}

// The keys whose scores are nearest to the threshold, on both sides of it.
function Margin({ here, onKey }: { here: RowHere; onKey: (key: number) => void }) {
  const keys = aboutToFlip(here.row, 6);
  return (
    <div class="margin">
      <h3>
        Margin <span class="quiet">the keys nearest to the threshold</span>
      </h3>
      <ul>
        {keys.map((key) => {
          const score = here.row.score[key] ?? 0;
          return (
            <li key={key}>
              <button
                type="button"
                class={score > 0 ? 'kept' : 'dropped'}
                title={`key ${key} is ${score > 0 ? 'kept' : 'dropped'} by ${exact(Math.abs(score))}`}
                onClick={() => onKey(key)}
              >
                <span class="quiet">{key}</span> <code>{visible(here.tokens[key]?.text ?? '')}</code>{' '}
                {score > 0 ? '+' : ''}
                {short(score)}
              </button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

// How many answers of a run are right, and where the wrong ones are.
export function ScoreLine(props: {
  letter: string;
  title: string;
  tokens: Token[];
  answers: Answered<api.Prediction[]>;
  onQuery: (query: number) => void;
}) {
  if (!props.answers.value) return null;
  const score = scoreOf(props.tokens, props.answers.value);
  if (score.asked === 0) return null;
  return (
    <p class="score" data-score={props.letter}>
      <span class="letter">{props.letter}</span> {props.title}: <b>{score.right}</b> of {count(score.asked, 'answer')}{' '}
      right
      {score.wrong.length > 0 && ', wrong at '}
      {score.wrong.slice(0, 6).map((query) => (
        <button type="button" key={query} onClick={() => props.onQuery(query)}>
          {query}
        </button>
      ))}
      {score.wrong.length > 6 && ` and ${score.wrong.length - 6} more`}
    </p>
  );
}
