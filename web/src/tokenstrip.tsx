// The input as a strip of tokens, with what each run answers below them; a chosen token can be edited.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Prediction, Run } from './api.ts';
import { percent, visible } from './format.ts';
import { useWidth } from './hooks.ts';
import type { Token } from './tokens.ts';

interface Props {
  runs: Run[];
  tokens: Token[];
  answers: (Prediction[] | null)[];
  query: number;
  keyAt: number | null;
  evidence: number[];
  selected: number | null;
  onSelect: (position: number) => void;
  onQuery: (position: number) => void;
  onDrop: (position: number) => void;
}

const kLead = 58;

export function TokenStrip(props: Props) {
  const { runs, tokens, answers, query, evidence, selected } = props;
  const [room, measured] = useWidth();
  const [scrolled, setScrolled] = useState(0);
  const scroller = useRef<HTMLDivElement | null>(null);
  const longest = tokens.reduce((most, token) => Math.max(most, visible(token.text).length), 1);
  const width = Math.min(longest, 12) * 8 + 14;
  const asks = tokens.some((token) => token.answer);
  const first = Math.max(Math.floor(scrolled / width) - 10, 0);
  const last = Math.min(Math.ceil((scrolled + room) / width) + 10, tokens.length);
  const near = new Set(evidence);

  const show = (position: number) => {
    const box = scroller.current;
    if (!box) return;
    const left = position * width;
    if (left < box.scrollLeft + width || left + 2 * width > box.scrollLeft + box.clientWidth - kLead) {
      box.scrollLeft = left - (box.clientWidth - kLead) / 2;
    }
  };
  useEffect(() => show(query), [query, tokens.length, room]);
  useEffect(() => {
    if (selected !== null) show(selected);
  }, [selected]);

  const onKey = (event: KeyboardEvent) => {
    const at = selected ?? query;
    const to: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tokens.length - 1 };
    const next = to[event.key];
    if (next !== undefined) props.onSelect(Math.min(Math.max(next, 0), tokens.length - 1));
    else if (event.key === 'Enter') props.onQuery(at);
    else if (event.key === 'Delete' && selected !== null) props.onDrop(selected);
    else return;
    event.preventDefault();
  };

  const places: number[] = [];
  for (let i = first; i < last; ++i) places.push(i);
  return (
    <div class="strip" ref={measured} style={{ '--rows': runs.length, '--chip': `${width}px` }}>
      <div class="strip-names" aria-hidden="true">
        <span />
        <span>Input</span>
        {runs.map((run, i) => (
          <span key={run.id}>
            <span class="letter">{'AB'[i]}</span>
          </span>
        ))}
      </div>
      <div
        class="strip-scroller"
        ref={scroller}
        role="listbox"
        tabIndex={0}
        aria-label="Tokens of the input. Arrow keys choose one to edit, Enter makes it the query, Delete drops it."
        aria-activedescendant={selected === null ? undefined : `token-${selected}`}
        onKeyDown={onKey}
        onScroll={(event) => setScrolled(event.currentTarget.scrollLeft)}
      >
        <div class="strip-lane" style={{ width: `${tokens.length * width}px` }}>
          {places.map((i) => {
            const token = tokens[i] as Token;
            const asked = tokens[i + 1]?.answer === true;
            const kinds = ['chip'];
            if (i === query) kinds.push('query');
            if (i === props.keyAt) kinds.push('key');
            if (near.has(i)) kinds.push('evidence');
            if (token.from < 0) kinds.push('new');
            if (i === selected) kinds.push('selected');
            const said = answers.map((each, pane) => {
              const answer = each?.[i];
              if (!answer || (asks && !asked)) return null;
              const right = answer.id === tokens[i + 1]?.id;
              return { pane, answer, right };
            });
            const spoken = said
              .filter((each) => each !== null)
              .map(
                ({ pane, answer, right }) =>
                  `${runs[pane]?.title} answers ${answer.text}${asked ? (right ? ', right' : ', wrong') : ''}`,
              );
            return (
              <div
                key={i}
                id={`token-${i}`}
                role="option"
                aria-selected={i === selected}
                aria-label={[`${i}: ${visible(token.text)}`, near.has(i) ? 'evidence' : '', ...spoken]
                  .filter(Boolean)
                  .join('; ')}
                class="token"
                style={{ left: `${i * width}px` }}
                onClick={() => props.onSelect(i)}
                onDblClick={() => props.onQuery(i)}
              >
                <span class="at">{i === query || (i % 5 === 0 && Math.abs(i - query) > 1) ? i : ''}</span>
                <span class={kinds.join(' ')}>{visible(token.text)}</span>
                {said.map((each, pane) =>
                  each ? (
                    <span
                      key={pane}
                      class={`said ${asked ? (each.right ? 'right' : 'wrong') : 'unasked'}`}
                      title={percent(each.answer.probability)}
                    >
                      {visible(each.answer.text)}
                    </span>
                  ) : (
                    <span key={pane} class="said" />
                  ),
                )}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface EditorProps {
  run: Run;
  tokens: Token[];
  selected: number | null;
  edits: number;
  onChange: (position: number, symbol: string) => void;
  onInsert: (position: number, symbol: string) => void;
  onDrop: (position: number) => void;
  onQuery: (position: number) => void;
  onUndo: () => void;
  onReset: () => void;
}

// Edits the chosen token. Models of text take any text here; the others one of their symbols.
export function TokenEditor(props: EditorProps) {
  const { run, tokens, selected, edits } = props;
  const token = selected === null ? undefined : tokens[selected];
  const [symbol, setSymbol] = useState('');
  useEffect(() => setSymbol(token?.text ?? ''), [selected, token?.text]);
  const undo = edits > 0 && (
    <>
      <button type="button" onClick={props.onUndo}>
        Undo
      </button>
      {edits > 1 && (
        <button type="button" onClick={props.onReset}>
          Undo all {edits}
        </button>
      )}
    </>
  );
  if (selected === null || !token) {
    return (
      <div class="editor">
        <span class="quiet">Choose a token to change, drop or make the query; the counts of the row follow.</span>
        {undo}
      </div>
    );
  }
  return (
    <fieldset class="editor">
      <legend class="hidden">Edit token {selected}</legend>
      <span>
        Token <b>{selected}</b> <code>{visible(token.text)}</code>
      </span>
      {run.symbols ? (
        <select
          aria-label={`Symbol for token ${selected}`}
          value={symbol}
          onChange={(event) => setSymbol(event.currentTarget.value)}
        >
          {run.symbols.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      ) : (
        <input
          aria-label={`Text for token ${selected}`}
          value={symbol}
          size={10}
          onInput={(event) => setSymbol(event.currentTarget.value)}
        />
      )}
      <button type="button" disabled={symbol === token.text} onClick={() => props.onChange(selected, symbol)}>
        Change
      </button>
      <button type="button" disabled={symbol === ''} onClick={() => props.onInsert(selected, symbol)}>
        Insert before
      </button>
      <button type="button" disabled={tokens.length === 1} onClick={() => props.onDrop(selected)}>
        Drop
      </button>
      <button type="button" onClick={() => props.onQuery(selected)}>
        Make it the query
      </button>
      {undo}
    </fieldset>
  );
}
