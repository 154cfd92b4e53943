// The page: chooses runs and an input, and shows one or two runs on it. Its state is in the link.
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import * as api from './api.ts';
import type { Theme } from './colour.ts';
import { useAnswer } from './hooks.ts';
import { kWhatNames } from './legend.tsx';
import type { Cell } from './matrix.tsx';
import { PaneView, ScoreLine } from './pane.tsx';
import { Broken, RunPicker } from './runs.tsx';
import { SourceBar } from './source.tsx';
import { firstSource, kEmpty, type Pane, readLink, type Source, type View, writeLink } from './state.ts';
import { applyEdits, type Edit, evidenceOf, firstQuery, tokensOf } from './tokens.ts';
import { TokenEditor, TokenStrip } from './tokenstrip.tsx';
import { TopBar, useTheme } from './top.tsx';
import { clamp, reveal, type Viewport, whole } from './viewport.ts';

const kNoHead: api.HeadId = { layer: 0, head: 0, attention: 0 };

// The last layer's heads answer; the first ones are chosen there.
const firstHead = (run: api.Run): api.HeadId => ({ ...kNoHead, layer: run.layers - 1 });

// Keeps the state in the address, so that a link to the page as it is can be copied from there.
function useView(): [View, (change: (view: View) => View) => void] {
  const [view, setView] = useState<View>(() => readLink(location.hash.slice(1)));
  const written = useRef('');
  useEffect(() => {
    const timer = setTimeout(() => {
      const link = writeLink(view);
      if (link === '' || `#${link}` === location.hash) return;
      written.current = `#${link}`;
      history.replaceState(null, '', `#${link}`);
    }, 120);
    return () => clearTimeout(timer);
  }, [view]);
  useEffect(() => {
    const followed = () => {
      if (location.hash !== written.current) setView(readLink(location.hash.slice(1)));
    };
    window.addEventListener('hashchange', followed);
    return () => window.removeEventListener('hashchange', followed);
  }, []);
  return [view, setView];
}

export function App() {
  const [theme, toggleTheme] = useTheme();
  const listed = useAnswer('runs', () => api.runs());
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>('.matrix-view')?.focus()}>
        Skip to the matrix
      </button>
      <TopBar theme={theme} onTheme={toggleTheme} />
      {listed.error && (
        <main class="notice">
          <p class="error" role="alert">
            {listed.error}
          </p>
        </main>
      )}
      {!listed.value && !listed.error && <main class="notice quiet">Asking for the runs…</main>}
      {listed.value && <Explorer runs={listed.value.runs} theme={theme} />}
    </>
  );
}

const alike = (a: api.Run, b: api.Run) => a.task === b.task && String(a.symbols) === String(b.symbols);

function Explorer({ runs, theme }: { runs: api.Run[]; theme: Theme }) {
  const [view, setView] = useView();
  const usable = useMemo(() => runs.filter((run) => run.error === null), [runs]);
  const named = (name: string) => usable.find((run) => run.name === name);
  const unknown = view.panes.filter((pane) => !named(pane.run)).map((pane) => pane.run);
  const firstRun = usable[0];
  const panes: Pane[] = view.panes.filter((pane) => named(pane.run));
  if (panes.length === 0 && firstRun) panes.push({ run: firstRun.name, head: firstHead(firstRun), logGate: null });
  const shown = panes.map((pane) => ({ pane, run: named(pane.run) as api.Run }));
  const main = shown[0]?.run;
  if (!main) {
    return (
      <main class="notice">
        <p class="error">None of the runs can be shown.</p>
        <Broken runs={runs} />
      </main>
    );
  }
  return (
    <Shown
      runs={runs}
      shown={shown}
      unknown={unknown}
      view={{ ...view, panes }}
      theme={theme}
      onView={(change) => setView((before) => change({ ...before, panes }))}
    />
  );
}

interface ShownProps {
  runs: api.Run[];
  shown: { pane: Pane; run: api.Run }[];
  unknown: string[];
  view: View;
  theme: Theme;
  onView: (change: (view: View) => View) => void;
}

function Shown({ runs, shown, unknown, view, theme, onView }: ShownProps) {
  const main = (shown[0] as { run: api.Run }).run;
  const other = shown[1]?.run ?? null;
  const source: Source = view.source ?? firstSource(main.splits);

  const ask = `${main.id}:${JSON.stringify(source)}`;
  const input = useAnswer<api.Input>(ask, (signal) => {
    if (source.kind === 'typed') return api.typed(main, source.text, signal);
    return api.example(main, source, signal);
  });
  // A stretched example is compared with the one that it was made of.
  const stretched = source.kind === 'example' && source.factor > 1;
  const unstretched = JSON.stringify({ ...source, factor: 1 });
  const original = useAnswer<api.Input>(stretched ? `${main.id}:${unstretched}` : null, (signal) =>
    api.example(main, { ...(source as api.Example), factor: 1 }, signal),
  );
  // Texts of tokens that edits brought in; of tasks they are known, of texts they come with what was typed.
  const texts = useRef(new Map<number, string>());
  const read = useMemo(() => (input.value ? tokensOf(input.value) : []), [input.value]);
  const base = useMemo(
    () => (stretched ? (original.value ? tokensOf(original.value) : []) : read),
    [stretched, original.value, read],
  );
  const editing = JSON.stringify(view.edits);
  const tokens = useMemo(
    () => applyEdits(read, view.edits, (id) => main.symbols?.[id] ?? texts.current.get(id) ?? `#${id}`),
    [read, editing],
  );
  // Models with as many positions as training needed do not read the last answer, and it is only shown.
  const unread = tokens.at(-1)?.answer && shown.some(({ run }) => run.longest === tokens.length - 1);
  const length = tokens.length - (unread ? 1 : 0);
  const ids = useMemo(() => tokens.slice(0, length).map((token) => token.id), [tokens, length]);
  const key = ids.length > 0 ? ids.join() : null;
  const mixed = other !== null && !alike(main, other);

  const answersA = useAnswer(key && `${main.id}:${key}`, (signal) => api.predictions(main, ids, signal));
  const askB = key && other && !mixed ? `${other.id}:${key}` : null;
  const answersB = useAnswer(askB, (signal) => api.predictions(other as api.Run, ids, signal));
  const answers = [answersA, answersB];

  const query = Math.min(view.query ?? firstQuery(tokens), Math.max(length - 1, 0));
  const [hover, setHover] = useState<Cell | null>(null);
  const [viewport, setViewport] = useState<Viewport>(whole(1));
  const [selected, setSelected] = useState<number | null>(null);
  const [said, setSaid] = useState('');
  const [editError, setEditError] = useState<string | null>(null);
  const speaker = useRef('A');

  // A new input is seen whole; one that an edit made a little longer stays where it was, unless all of it was seen.
  const [seen, setSeen] = useState(0);
  if (length > 0 && seen !== length) {
    setSeen(length);
    setViewport(viewport.span >= seen ? whole(length) : clamp(viewport, length));
    if (hover) setHover(null);
  }

  const choose = (cell: Cell) =>
    onView((before) => ({
      ...before,
      query: cell.query,
      key: Math.min(cell.key, cell.query),
      panes: before.panes.map((pane) => (cell.query === query ? pane : { ...pane, logGate: null })),
    }));
  const chooseQuery = (position: number) => {
    onView((before) => ({
      ...before,
      query: position,
      key: null,
      panes: before.panes.map((pane) => ({ ...pane, logGate: null })),
    }));
    setViewport(reveal(viewport, position, position, length));
  };
  const setSource = (next: Source) => {
    setSelected(null);
    onView((before) => ({
      ...before,
      source: next,
      edits: [],
      query: null,
      key: null,
      panes: before.panes.map((pane) => ({ ...pane, logGate: null })),
    }));
  };
  const setPane = (at: number, pane: Pane) =>
    onView((before) => ({ ...before, panes: before.panes.map((each, i) => (i === at ? pane : each)) }));
  const setRun = (at: number, name: string) => {
    const run = runs.find((each) => each.name === name);
    onView((before) => {
      if (!run) return { ...before, panes: before.panes.slice(0, 1) };
      const panes = [...before.panes];
      panes[at] = { run: name, head: firstHead(run), logGate: null };
      const rest = panes[1] && runs.find((each) => each.name === panes[1]?.run);
      const changed = at === 0 && !alike(main, run);
      if (!changed) return { ...before, panes };
      const kept = rest && alike(run, rest) ? panes : panes.slice(0, 1);
      return { ...kEmpty, what: before.what, panes: kept };
    });
  };

  // Edits move the query and the key with the tokens that they stand on.
  const edit = (...edits: Edit[]) => {
    setEditError(null);
    onView((before) => {
      const follow = (at: number | null) =>
        edits.reduce<number | null>((place, each) => {
          if (place === null || each.kind === 'change') return place;
          if (each.kind === 'insert') return each.at <= place ? place + 1 : place;
          return each.at < place ? place - 1 : place;
        }, at);
      return {
        ...before,
        edits: [...before.edits, ...edits],
        query: follow(query),
        key: follow(before.key),
      };
    });
  };
  const withIds = async (text: string, make: (ids: number[]) => Edit[]) => {
    const known = main.symbols?.indexOf(text) ?? -1;
    if (known >= 0) return edit(...make([known]));
    try {
      const read = await api.typed(main, text);
      read.tokens.forEach((id, i) => {
        texts.current.set(id, read.texts[i] ?? '');
      });
      edit(...make(read.tokens));
    } catch (error) {
      setEditError(error instanceof Error ? error.message : String(error));
    }
    return undefined;
  };
  const change = (at: number, text: string) =>
    withIds(text, (found) =>
      found.map((id, i) => (i === 0 ? { kind: 'change', at, id } : { kind: 'insert', at: at + i, id })),
    );
  const insert = (at: number, text: string) => {
    setSelected((before) => (before === null ? null : before + 1));
    return withIds(text, (found) => found.map((id, i) => ({ kind: 'insert', at: at + i, id })));
  };
  const drop = (at: number) => {
    edit({ kind: 'drop', at });
    if (at === tokens.length - 1) setSelected(at > 0 ? at - 1 : null);
  };
  const undo = (all: boolean) =>
    onView((before) => ({ ...before, edits: all ? [] : before.edits.slice(0, -1), query: null, key: null }));

  const evidence = useMemo(() => evidenceOf(tokens, query), [tokens, query]);
  const onHover = useCallback((cell: Cell | null) => setHover((before) => (same(before, cell) ? before : cell)), []);
  const separator = main.separator;
  const asTyped = tokens.map((token) => token.text).join(separator);
  const asked = tokens.some((token) => token.answer);
  const strip = useMemo(
    () => (
      <TokenStrip
        runs={shown.map((each) => each.run)}
        tokens={tokens}
        answers={shown.map((_, i) => answers[i]?.value ?? null)}
        query={query}
        keyAt={view.key}
        evidence={evidence}
        selected={selected}
        onSelect={setSelected}
        onQuery={chooseQuery}
        onDrop={drop}
      />
    ),
    [tokens, query, view.key, selected, answersA.value, answersB.value, other, viewport],
  );

  return (
    <main aria-busy={input.busy}>
      <section class="controls" aria-label="Runs and input">
        <div class="pickers">
          <RunPicker letter="A" runs={runs} value={main.name} onRun={(name) => setRun(0, name)} />
          <RunPicker
            letter="B"
            runs={runs.filter((run) => run.error !== null || alike(run, main))}
            value={other?.name ?? ''}
            none="no second run"
            onRun={(name) => setRun(1, name)}
          />
          <SourceBar run={main} source={source} typed={asTyped} onSource={setSource} />
        </div>
        {unknown.length > 0 && (
          <p class="error" role="alert">
            The link names {unknown.join(' and ')}, which this program was not given or cannot show. Start tra view with
            its folder.
          </p>
        )}
        {mixed && (
          <p class="error" role="alert">
            {main.name} and {other?.name} do not read the same symbols, so one input cannot be given to both. Choose a
            run of the same task.
          </p>
        )}
        {input.error && (
          <p class="error" role="alert">
            {input.error}
          </p>
        )}
        {editError && (
          <p class="error" role="alert">
            {editError}
          </p>
        )}
        {length > 0 && strip}
        {length > 0 && (
          <div class="under-strip">
            <TokenEditor
              run={main}
              tokens={tokens}
              selected={selected}
              edits={view.edits.length}
              onChange={change}
              onInsert={insert}
              onDrop={drop}
              onQuery={chooseQuery}
              onUndo={() => undo(false)}
              onReset={() => undo(true)}
            />
            <div class="scores">
              {shown.map(({ run }, i) => (
                <ScoreLine
                  key={'AB'[i]}
                  letter={'AB'[i] as string}
                  title={run.title}
                  tokens={tokens}
                  answers={answers[i] as typeof answersA}
                  onQuery={chooseQuery}
                />
              ))}
              {asked && view.edits.length > 0 && (
                <p class="quiet">
                  Answers are compared with the tokens that follow, which an edit may have made wrong.
                </p>
              )}
            </div>
          </div>
        )}
      </section>

      {length > 0 && (
        <fieldset class="segments what">
          <legend>Show</legend>
          {api.kWhat.map((each) => (
            <label key={each}>
              <input
                type="radio"
                name="what"
                checked={view.what === each}
                onChange={() => onView((before) => ({ ...before, what: each }))}
              />
              <span>{kWhatNames[each]}</span>
            </label>
          ))}
        </fieldset>
      )}
      <div class={shown.length > 1 ? 'panes two' : 'panes one'}>
        {length > 0 &&
          shown.map(({ pane, run }, i) =>
            i > 0 && mixed ? null : (
              <PaneView
                key={`${i}:${run.id}`}
                letter={'AB'[i] as string}
                run={run}
                pane={pane}
                tokens={tokens}
                length={length}
                base={base}
                change={view.edits.length > 0 ? 'Since the change' : stretched ? 'Since the stretch' : null}
                answers={answers[i] as typeof answersA}
                what={view.what}
                query={query}
                chosenKey={view.key}
                hover={hover}
                viewport={viewport}
                theme={theme}
                onPane={(next) => setPane(i, next)}
                onViewport={setViewport}
                onHover={onHover}
                onChoose={(cell) => {
                  speaker.current = 'AB'[i] as string;
                  choose(cell);
                }}
                onSaid={(text) => speaker.current === 'AB'[i] && !hover && setSaid(text)}
              />
            ),
          )}
        {length === 0 && !input.error && <p class="quiet notice">Reading the input…</p>}
      </div>
      <div class="hidden" role="status" aria-live="polite">
        {said}
      </div>
      <Broken runs={runs} />
    </main>
  );
}

const same = (a: Cell | null, b: Cell | null) => a?.query === b?.query && a?.key === b?.key;
