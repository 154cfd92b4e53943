// Chooses a run, and says why others cannot be shown.
import type * as api from './api.ts';

export function RunPicker(props: {
  letter: string;
  runs: api.Run[];
  value: string;
  none?: string;
  onRun: (name: string) => void;
}) {
  return (
    <label class="field run">
      <span>
        Run <span class="letter">{props.letter}</span>
      </span>
      <select
        aria-label={`Run ${props.letter}`}
        value={props.value}
        onChange={(event) => props.onRun(event.currentTarget.value)}
      >
        {props.none !== undefined && <option value="">{props.none}</option>}
        {props.runs.map((run) => (
          <option key={run.id} value={run.name} disabled={run.error !== null} title={run.error ?? ''}>
            {run.name}
          </option>
        ))}
      </select>
    </label>
  );
}

// Says why runs are missing.
export function Broken({ runs }: { runs: api.Run[] }) {
  const broken = runs.filter((run) => run.error !== null);
  if (broken.length === 0) return null;
  return (
    <details class="broken">
      <summary>
        {broken.length} of {runs.length} runs cannot be shown
      </summary>
      <ul>
        {broken.map((run) => (
          <li key={run.id}>
            <b>{run.name}</b>: {run.error}
          </li>
        ))}
      </ul>
    </details>
  );
}
