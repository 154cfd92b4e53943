// Fetches the tiles of one matrix as they come into view, and keeps them painted.
import type { Tile, What } from './api.ts';
import { paint, type Range, rangeOf, type Theme } from './colour.ts';
import type { TileId } from './viewport.ts';

const kAtOnce = 2; // requests; the server computes one at a time
const kKept = 96; // tiles

const name = (id: TileId) => `${id.pool}/${id.row}/${id.column}`;

interface Held {
  id: TileId;
  tile: Tile;
  picture: HTMLCanvasElement | null; // painted for the theme and the range below
  painted: string;
}

export class TileStore {
  error: string | null = null;
  range: Range = { low: 0, high: 0 };
  private held = new Map<string, Held>();
  private asked = new Set<string>();
  private queue: TileId[] = [];
  private control = new AbortController();
  readonly what: What;
  private fetchTile: (id: TileId, signal: AbortSignal) => Promise<Tile>;
  private changed: () => void;

  constructor(what: What, fetchTile: (id: TileId, signal: AbortSignal) => Promise<Tile>, changed: () => void) {
    this.what = what;
    this.fetchTile = fetchTile;
    this.changed = changed;
  }

  get busy(): boolean {
    return this.asked.size > 0;
  }
  get empty(): boolean {
    return this.held.size === 0;
  }

  // Makes these tiles the ones to fetch; those that were waiting and are not among them are forgotten.
  want(ids: TileId[]) {
    this.queue = ids.filter((id) => !this.held.has(name(id)) && !this.asked.has(name(id)));
    for (const id of ids) {
      const held = this.held.get(name(id));
      if (!held) continue;
      this.held.delete(name(id)); // the newest are at the end
      this.held.set(name(id), held);
    }
    this.fetchNext();
  }

  stop() {
    this.queue = [];
    this.control.abort();
  }

  // Returns what there is of tiles to draw, the coarsest first.
  *pictures(theme: Theme): Generator<{ id: TileId; picture: HTMLCanvasElement }> {
    for (const held of [...this.held.values()].sort((a, b) => b.id.pool - a.id.pool)) {
      const style = `${theme} ${this.range.low} ${this.range.high}`;
      if (held.painted !== style || !held.picture) {
        held.picture ??= document.createElement('canvas');
        held.picture.width = held.tile.columns;
        held.picture.height = held.tile.rows;
        const context = held.picture.getContext('2d');
        const image = context?.createImageData(held.tile.columns, held.tile.rows);
        if (!context || !image) continue;
        paint(held.tile, theme, this.what, this.range, image.data);
        context.putImageData(image, 0, 0);
        held.painted = style;
      }
      yield { id: held.id, picture: held.picture };
    }
  }

  private fetchNext() {
    while (this.asked.size < kAtOnce) {
      const id = this.queue.shift();
      if (!id) return;
      this.asked.add(name(id));
      this.fetchTile(id, this.control.signal).then(
        (tile) => {
          this.asked.delete(name(id));
          this.hold(id, tile);
          this.changed();
          this.fetchNext();
        },
        (error: unknown) => {
          this.asked.delete(name(id));
          if (this.control.signal.aborted) return;
          this.error = error instanceof Error ? error.message : String(error);
          this.queue = [];
          this.changed();
        },
      );
    }
  }

  private hold(id: TileId, tile: Tile) {
    this.held.set(name(id), { id, tile, picture: null, painted: '' });
    for (const oldest of this.held.keys()) {
      if (this.held.size <= kKept) break;
      this.held.delete(oldest);
    }
    this.range = rangeOf(
      this.what,
      [...this.held.values()].map((each) => each.tile),
    );
  }
}
