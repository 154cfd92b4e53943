// Asks the server. web/API.md documents the requests.

export interface Run {
  id: number;
  name: string;
  error: string | null;
  // The rest is missing if there is an error.
  attention: string;
  title: string;
  task: string | null;
  step: number;
  layers: number;
  heads: number;
  attentions: number;
  parameters: number;
  longest: number | null;
  rule: 'softmax' | 'threshold' | 'forget' | 'distance' | 'contextual';
  splits: string[];
  symbols: string[] | null;
  separator: string;
  stretches: boolean;
  lengths: [number, number] | null; // that examples of the task may have
}

export interface Limits {
  tokens: number;
  cells: number;
}

export interface Input {
  tokens: number[];
  texts: string[];
  targets: number[]; // the id that must follow, or -1
  evidence: [answer: number, evidence: number][]; // positions: what the prediction at the first depends on
  from?: number[]; // of a stretched input: each token's position before, or -1
}

export interface Prediction {
  id: number;
  text: string;
  probability: number;
}

export interface HeadId {
  layer: number;
  head: number;
  attention: number;
}

export const kWhat = ['weight', 'score', 'term', 'logit', 'position'] as const;
export type What = (typeof kWhat)[number];

export const kFuture = 0;
export const kDropped = 1;
export const kKept = 2;
export const kSkipped = 3;

export interface Row {
  log_gate: number | null;
  model_log_gate: number | null;
  stopped_at: number;
  unseen: number;
  state: number[];
  score: number[];
  position: number[];
  term: number[];
  logit: (number | null)[];
  weight: number[];
}

export interface Tile {
  rows: number;
  columns: number;
  values: Float32Array;
  states: Uint8Array;
}

export interface Part {
  queries: [number, number];
  keys: [number, number];
  pool: number;
}

// Says what went wrong, in words for the person at the page.
export class Refused extends Error {}

async function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused('The program does not answer. Is tra view still running? Start it again and reload this page.');
  }
  if (!response.ok) throw new Refused(await whyRefused(response));
  return response;
}

async function whyRefused(response: Response): Promise<string> {
  try {
    return ((await response.json()) as { error: string }).error;
  } catch {
    return `The program refused the request with status ${response.status}.`;
  }
}

export async function runs(): Promise<{ runs: Run[]; limits: Limits }> {
  let response: Response;
  try {
    response = await fetch('/api/runs');
  } catch {
    throw new Refused('The program does not answer. Is tra view still running?');
  }
  if (!response.ok) throw new Refused(await whyRefused(response));
  return (await response.json()) as { runs: Run[]; limits: Limits };
}

export interface Example {
  split: string;
  index: number;
  length: number | null; // null: as the run is scored
  factor: number; // how many times as long irrelevant tokens make it
}

export async function example(run: Run, wanted: Example, signal?: AbortSignal): Promise<Input> {
  const { split, index, length, factor } = wanted;
  const body = { run: run.id, split, index, length };
  if (factor === 1) return (await (await post('/api/input', body, signal)).json()) as Input;
  return (await (await post('/api/stretch', { ...body, factor }, signal)).json()) as Input;
}

export async function typed(run: Run, text: string, signal?: AbortSignal): Promise<Input> {
  return (await (await post('/api/input', { run: run.id, text }, signal)).json()) as Input;
}

export async function predictions(run: Run, tokens: number[], signal?: AbortSignal): Promise<Prediction[]> {
  const answer = await (await post('/api/pass', { run: run.id, tokens }, signal)).json();
  return (answer as { predictions: Prediction[] }).predictions;
}

export async function row(
  run: Run,
  tokens: number[],
  head: HeadId,
  query: number,
  logGate: number | null,
  signal?: AbortSignal,
): Promise<Row> {
  const gate = logGate === null ? {} : { log_gate: logGate };
  return (await (await post('/api/row', { run: run.id, tokens, ...head, query, ...gate }, signal)).json()) as Row;
}

export async function tile(
  run: Run,
  tokens: number[],
  head: HeadId,
  what: What,
  part: Part,
  signal?: AbortSignal,
): Promise<Tile> {
  const response = await post('/api/matrix', { run: run.id, tokens, ...head, what, ...part }, signal);
  const rows = Number(response.headers.get('X-Rows'));
  const columns = Number(response.headers.get('X-Columns'));
  return readTile(await response.arrayBuffer(), rows, columns);
}

// Reads the bytes of a part of a matrix: a float32 a cell, then a state a cell.
export function readTile(bytes: ArrayBuffer, rows: number, columns: number): Tile {
  const cells = rows * columns;
  if (bytes.byteLength !== cells * 5) throw new Refused('The program sent a matrix of another size than it says.');
  return { rows, columns, values: new Float32Array(bytes, 0, cells), states: new Uint8Array(bytes, cells * 4, cells) };
}
