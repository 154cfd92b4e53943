// Which part of a matrix is on the screen. Cells are square, so one number is the size of the part in both directions.

export interface Viewport {
  query: number; // at the upper edge
  key: number; // at the left edge
  span: number; // tokens from edge to edge
}

export interface TileId {
  pool: number; // tokens a cell, in both directions
  row: number; // counted in tiles
  column: number;
}

export const kTileCells = 512;
const kSmallestSpan = 6;

export const whole = (length: number): Viewport => ({ query: 0, key: 0, span: Math.max(length, 1) });

// Moves a part to where it lies within the matrix.
export function clamp(view: Viewport, length: number): Viewport {
  const span = Math.min(Math.max(view.span, Math.min(kSmallestSpan, length)), Math.max(length, 1));
  const within = (first: number) => Math.min(Math.max(first, 0), Math.max(length - span, 0));
  return { query: within(view.query), key: within(view.key), span };
}

// Zooms by a factor (above 1: closer) around a point, given as shares of the edges.
export function zoom(view: Viewport, factor: number, x: number, y: number, length: number): Viewport {
  const { span } = clamp({ ...view, span: view.span / factor }, length);
  const gained = view.span - span;
  return clamp({ query: view.query + gained * y, key: view.key + gained * x, span }, length);
}

// Moves the part as little as needed to show a cell.
export function reveal(view: Viewport, query: number, key: number, length: number): Viewport {
  const to = (first: number, at: number) => Math.min(Math.max(first, at + 1 - view.span), at);
  return clamp({ query: to(view.query, query), key: to(view.key, key), span: view.span }, length);
}

// Returns the pooling at which a cell is at least a pixel, a power of two.
export function poolFor(view: Viewport, pixels: number): number {
  let pool = 1;
  while (view.span / pool > pixels && pool < 4096) pool *= 2;
  return pool;
}

// Returns the tiles of a part that have any key that is not in the future.
export function tilesOf(view: Viewport, pool: number, length: number): TileId[] {
  const size = kTileCells * pool;
  const tiles: TileId[] = [];
  const last = (first: number) => Math.ceil(Math.min(first + view.span, length) / size);
  for (let row = Math.floor(view.query / size); row < last(view.query); ++row) {
    for (let column = Math.floor(view.key / size); column < Math.min(last(view.key), row + 1); ++column) {
      tiles.push({ pool, row, column });
    }
  }
  return tiles;
}

// Returns the positions a tile spans along one direction.
export function extent(tile: TileId, at: number, length: number): [number, number] {
  const size = kTileCells * tile.pool;
  return [at * size, Math.min((at + 1) * size, length)];
}
