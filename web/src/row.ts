// What a row of the matrix says about itself.
import { kDropped, kKept, kSkipped, type Row } from './api.ts';

export interface RowFacts {
  keys: number;
  passed: number; // keys above the threshold, weighed or not
  skipped: number; // of them, those before the place where the walk stopped
  zeros: number; // weighed, but their weight rounds to exactly 0
  contextual: number; // mean distance as the rule counts it, by weight
  real: number; // mean distance in tokens, by weight
}

export function factsOf(row: Row): RowFacts {
  const facts: RowFacts = { keys: row.state.length, passed: 0, skipped: 0, zeros: 0, contextual: 0, real: 0 };
  row.state.forEach((state, key) => {
    const weight = row.weight[key] ?? 0;
    if (state === kKept || state === kSkipped) ++facts.passed;
    if (state === kSkipped) ++facts.skipped;
    if (state === kKept && weight === 0) ++facts.zeros;
    facts.contextual += weight * (row.position[key] ?? 0);
    facts.real += weight * (row.state.length - 1 - key);
  });
  return facts;
}

export function strongest(row: Row): number {
  let best = row.state.length - 1;
  row.weight.forEach((weight, key) => {
    if (weight > (row.weight[best] ?? 0)) best = key;
  });
  return best;
}

// Returns the keys whose scores are nearest to the threshold, nearest first: a small change of q or k flips them.
export function aboutToFlip(row: Row, limit: number): number[] {
  return row.score
    .map((score, key) => ({ size: Math.abs(score), key }))
    .sort((a, b) => a.size - b.size)
    .slice(0, limit)
    .map(({ key }) => key);
}

export function stateName(state: number | undefined, weight: number | undefined): string {
  if (state === kDropped) return 'dropped by the threshold';
  if (state === kSkipped) return 'skipped by the early stop';
  if (state === kKept) return weight === 0 ? 'kept, weight exactly 0' : 'kept';
  return 'in the future';
}

export interface Shift {
  kept: number; // keys that were dropped before
  dropped: number; // keys that were kept before
  further: number; // kept keys whose distance grew
  closer: number;
  same: number; // kept keys at the distance they had
  before: Map<number, number>; // by key: the distance it had
}

const passes = (state: number | undefined) => state === kKept || state === kSkipped;

// Compares a row with the one before the edits; `from` gives each key's position there, or -1.
export function shiftOf(row: Row, before: Row, from: number[]): Shift {
  const shift: Shift = { kept: 0, dropped: 0, further: 0, closer: 0, same: 0, before: new Map() };
  row.state.forEach((state, key) => {
    const old = from[key] ?? -1;
    if (old < 0 || before.state[old] === undefined) return;
    const [now, then] = [passes(state), passes(before.state[old])];
    if (now && !then) ++shift.kept;
    if (!now && then) ++shift.dropped;
    if (!now || !then) return;
    const [there, here] = [before.position[old] ?? 0, row.position[key] ?? 0];
    shift.before.set(key, there);
    if (here > there) ++shift.further;
    else if (here < there) ++shift.closer;
    else ++shift.same;
  });
  return shift;
}
