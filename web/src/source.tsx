// Chooses the input: an example by split and number, as long as it is or stretched, or one that is typed.
import { useEffect, useState } from 'preact/hooks';
import type { Run } from './api.ts';
import { firstSource, kFactors, type Source } from './state.ts';

interface Props {
  run: Run;
  source: Source;
  typed: string; // the input as text, to begin typing with
  onSource: (source: Source) => void;
}

interface NumberProps {
  value: number | null;
  onNumber: (value: number | null) => void; // null: the field was emptied
  min: number;
  max: number;
  id: string;
  placeholder?: string;
  title?: string;
}

// What is being typed stays until it is entered: answers that arrive meanwhile draw the page anew.
function NumberField({ value, onNumber, ...attributes }: NumberProps) {
  const [draft, setDraft] = useState<string | null>(null);
  return (
    <input
      type="number"
      {...attributes}
      value={draft ?? value ?? ''}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onChange={(event) => {
        const text = event.currentTarget.value;
        setDraft(null);
        if (text === '') onNumber(null);
        else if (Number.isInteger(Number(text)) && Number(text) >= 0) onNumber(Number(text));
      }}
    />
  );
}

export function SourceBar({ run, source, typed, onSource }: Props) {
  const [typing, setTyping] = useState(source.kind === 'typed');
  const [text, setText] = useState(source.kind === 'typed' ? source.text : '');
  useEffect(() => {
    setTyping(source.kind === 'typed');
    if (source.kind === 'typed') setText(source.text);
  }, [source]);
  const example = source.kind === 'example' ? source : firstSource(run.splits);
  const sample = (change: Partial<typeof example>) => onSource({ ...example, ...change });
  return (
    <div class="source">
      <fieldset class="segments">
        <legend class="hidden">Where the input comes from</legend>
        <label>
          <input
            type="radio"
            name="source"
            checked={!typing}
            onChange={() => {
              setTyping(false);
              if (source.kind === 'typed') sample({});
            }}
          />
          <span>Sample</span>
        </label>
        <label>
          <input
            type="radio"
            name="source"
            checked={typing}
            onChange={() => {
              setTyping(true);
              if (text === '') setText(typed);
            }}
          />
          <span>Type</span>
        </label>
      </fieldset>
      {typing ? (
        <form
          class="typing"
          onSubmit={(event) => {
            event.preventDefault();
            onSource({ kind: 'typed', text });
          }}
        >
          <textarea
            rows={2}
            spellcheck={false}
            aria-label={run.symbols ? 'Input, as symbols' : 'Input, as text'}
            placeholder={run.symbols ? `Symbols: ${run.symbols.slice(0, 40).join(' ')}` : 'Any text'}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
            }}
          />
          <button type="submit" class="primary" disabled={text.trim() === ''}>
            Show
          </button>
        </form>
      ) : (
        <>
          <label class="field">
            Split
            <select value={example.split} onChange={(event) => sample({ split: event.currentTarget.value, index: 0 })}>
              {run.splits.map((split) => (
                <option key={split}>{split}</option>
              ))}
            </select>
          </label>
          <div class="field">
            <label for="number">Example</label>
            <span class="stepper">
              <button
                type="button"
                aria-label="Example before"
                disabled={example.index === 0}
                onClick={() => sample({ index: example.index - 1 })}
              >
                ‹
              </button>
              <NumberField
                id="number"
                min={0}
                max={2147483647}
                value={example.index}
                onNumber={(index) => index !== null && sample({ index })}
              />
              <button type="button" aria-label="Next example" onClick={() => sample({ index: example.index + 1 })}>
                ›
              </button>
            </span>
          </div>
          {run.lengths && (
            <div class="field length">
              <label for="length">Length</label>
              <NumberField
                id="length"
                min={run.lengths[0]}
                max={run.lengths[1]}
                placeholder="as scored"
                title="of strings in symbols, of flip-flop in instructions; empty: as the run is scored"
                value={example.length}
                onNumber={(length) => sample({ length: length || null })}
              />
            </div>
          )}
          {run.stretches && (
            <fieldset class="segments field">
              <legend>Stretch</legend>
              {kFactors.map((factor) => (
                <label key={factor}>
                  <input
                    type="radio"
                    name="factor"
                    checked={example.factor === factor}
                    onChange={() => sample({ factor })}
                  />
                  <span>{factor}×</span>
                </label>
              ))}
            </fieldset>
          )}
        </>
      )}
    </div>
  );
}
