// The matrix of one head on a canvas: queries downwards, keys to the right.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import * as api from './api.ts';
import type { Theme } from './colour.ts';
import { visible } from './format.ts';
import { contextOf, cssColour, useWidth } from './hooks.ts';
import { TileStore } from './tiles.ts';
import type { Token } from './tokens.ts';
import { clamp, extent, poolFor, reveal, tilesOf, type Viewport, whole, zoom } from './viewport.ts';

export interface Cell {
  query: number;
  key: number;
}

interface Props {
  name: string;
  run: api.Run;
  head: api.HeadId;
  what: api.What;
  tokens: Token[];
  cell: Cell; // that the cursor is at
  said: string; // the same in words
  evidence: number[]; // keys that the answer depends on
  viewport: Viewport;
  theme: Theme;
  onViewport: (viewport: Viewport) => void;
  onHover: (cell: Cell | null) => void;
  onChoose: (cell: Cell) => void;
  onRange: (low: number, high: number) => void;
}

const kGutter = 30;
const kLabelled = 11; // pixels of a cell from which on tokens have room for their names

const kHelp =
  'Arrow keys move by one cell, with Shift by ten. Home and End go to the first key and to the query itself. ' +
  'Page Up and Page Down move by ten queries. Plus and minus zoom, 0 shows the whole matrix.';

// Returns the cell that a key leads to, or null for another key.
export function step(cell: Cell, key: string, shift: boolean, length: number): Cell | null {
  const by = shift ? 10 : 1;
  const moves: Record<string, [number, number]> = {
    ArrowUp: [-by, 0],
    ArrowDown: [by, 0],
    ArrowLeft: [0, -by],
    ArrowRight: [0, by],
    PageUp: [-10, 0],
    PageDown: [10, 0],
    Home: [0, -length],
    End: [0, length],
  };
  const move = moves[key];
  if (!move) return null;
  const query = Math.min(Math.max(cell.query + move[0], 0), length - 1);
  return { query, key: Math.min(Math.max(cell.key + move[1], 0), query) };
}

export function Matrix(props: Props) {
  const { run, head, what, tokens, viewport, theme, cell, evidence } = props;
  const length = tokens.length;
  const [width, measured] = useWidth();
  const size = Math.max(Math.min(width, 640) - kGutter - 2, 0);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [version, setVersion] = useState(0);
  const ids = useMemo(() => tokens.map((token) => token.id), [tokens]);

  // The store of the matrix before stays on the screen until the new one has something to show.
  const before = useRef<{ store: TileStore; length: number } | null>(null);
  const store = useMemo(() => {
    const fetchTile = (id: Parameters<typeof extent>[0], signal: AbortSignal) =>
      api.tile(
        run,
        ids,
        head,
        what,
        { queries: extent(id, id.row, length), keys: extent(id, id.column, length), pool: id.pool },
        signal,
      );
    return new TileStore(what, fetchTile, () => setVersion((count) => count + 1));
  }, [run.id, ids, head.layer, head.head, head.attention, what]);
  useEffect(() => () => store.stop(), [store]);
  useEffect(() => props.onRange(store.range.low, store.range.high), [store.range.low, store.range.high]);

  const density = window.devicePixelRatio || 1;
  const pool = poolFor(viewport, size * density);
  useEffect(() => {
    if (size > 0) store.want(tilesOf(viewport, pool, length));
  }, [store, viewport.query, viewport.key, viewport.span, pool, size]);

  const scale = size / viewport.span;

  useEffect(() => {
    if (!canvas.current || size === 0) return;
    const context = contextOf(canvas.current, size + kGutter + 1, size + kGutter + 1);
    if (!context) return;
    context.save();
    context.translate(kGutter, kGutter);
    context.beginPath();
    context.rect(0, 0, size, size);
    context.clip();
    context.fillStyle = cssColour('--future');
    context.fillRect(0, 0, size, size);
    context.imageSmoothingEnabled = false;
    const shown = store.empty && before.current?.length === length ? before.current.store : store;
    context.globalAlpha = shown === store ? 1 : 0.45;
    for (const { id, picture } of shown.pictures(theme)) {
      const [x, y] = [extent(id, id.column, length)[0] - viewport.key, extent(id, id.row, length)[0] - viewport.query];
      context.drawImage(
        picture,
        x * scale,
        y * scale,
        picture.width * id.pool * scale,
        picture.height * id.pool * scale,
      );
    }
    context.globalAlpha = 1;
    if (!store.empty) before.current = { store, length };

    // The lines of the cursor, its cell, and the evidence of its query.
    const x = (cell.key - viewport.key) * scale;
    const y = (cell.query - viewport.query) * scale;
    const thick = Math.max(scale, 1);
    context.strokeStyle = cssColour('--cursor');
    context.lineWidth = 1;
    context.globalAlpha = 0.75;
    context.strokeRect(-2, Math.round(y) - 0.5, size + 4, Math.round(thick) + 1);
    context.globalAlpha = 0.35;
    context.strokeRect(Math.round(x) - 0.5, -2, Math.round(thick) + 1, size + 4);
    context.globalAlpha = 1;
    context.lineWidth = 2;
    const grown = Math.max(thick, 5);
    context.strokeRect(x + (thick - grown) / 2 - 1, y + (thick - grown) / 2 - 1, grown + 2, grown + 2);
    context.strokeStyle = cssColour('--evidence');
    for (const key of evidence) {
      const centre = (key - viewport.key + 0.5) * scale;
      context.beginPath();
      context.arc(centre, y + thick / 2, Math.max(thick * 0.36, 4.5), 0, 7);
      context.stroke();
    }
    context.restore();
    drawLabels(context, tokens, viewport, size, cell);
    context.strokeStyle = cssColour('--line');
    context.lineWidth = 1;
    context.strokeRect(kGutter - 0.5, kGutter - 0.5, size + 1, size + 1);
  }, [version, store, viewport, size, theme, cell.query, cell.key, evidence, tokens]);

  const drag = useRef<{ x: number; y: number; view: Viewport; moved: boolean } | null>(null);
  const pinch = useRef(new Map<number, { x: number; y: number }>());
  const at = (event: PointerEvent | WheelEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { x: event.clientX - box.left - kGutter, y: event.clientY - box.top - kGutter };
  };
  const cellAt = ({ x, y }: { x: number; y: number }): Cell | null => {
    const query = Math.floor(viewport.query + y / scale);
    const key = Math.floor(viewport.key + x / scale);
    if (x < 0 || y < 0 || x >= size || y >= size || query >= length || key >= length) return null;
    return { query, key: Math.min(key, query) };
  };
  const onMove = (event: PointerEvent) => {
    const here = at(event);
    const fingers = pinch.current;
    if (fingers.size === 2 && fingers.has(event.pointerId)) {
      const apart = () => {
        const [a, b] = [...fingers.values()] as [{ x: number; y: number }, { x: number; y: number }];
        return { gap: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
      };
      const { gap } = apart();
      fingers.set(event.pointerId, here);
      const now = apart();
      if (gap > 0) props.onViewport(zoom(viewport, now.gap / gap, now.x / size, now.y / size, length));
      if (drag.current) drag.current.moved = true;
      return;
    }
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, here);
    if (drag.current) {
      const [dx, dy] = [here.x - drag.current.x, here.y - drag.current.y];
      if (Math.hypot(dx, dy) > 4) drag.current.moved = true;
      if (drag.current.moved && viewport.span < length) {
        const { query, key, span } = drag.current.view;
        props.onViewport(clamp({ query: query - dy / scale, key: key - dx / scale, span }, length));
        return;
      }
    }
    if (event.pointerType === 'mouse') props.onHover(cellAt(here));
  };
  const onUp = (event: PointerEvent) => {
    pinch.current.delete(event.pointerId);
    if (drag.current && !drag.current.moved) {
      const chosen = cellAt(at(event));
      if (chosen) props.onChoose(chosen);
    }
    if (pinch.current.size === 0) drag.current = null;
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = step(cell, event.key, event.shiftKey, length);
    if (next) {
      props.onChoose(next);
      props.onViewport(reveal(viewport, next.query, next.key, length));
    } else if (event.key === '+' || event.key === '=') zoomAtCell(2);
    else if (event.key === '-') zoomAtCell(0.5);
    else if (event.key === '0') props.onViewport(whole(length));
    else return;
    event.preventDefault();
  };
  const zoomAtCell = (factor: number) => {
    const share = (position: number, first: number) => Math.min(Math.max((position - first) / viewport.span, 0), 1);
    const x = share(cell.key, viewport.key);
    const y = share(cell.query, viewport.query);
    props.onViewport(zoom(viewport, factor, x, y, length));
  };
  // Preact adds wheel listeners as passive ones, which could not keep the page from zooming.
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { x, y } = at(event);
      props.onViewport(zoom(viewport, Math.exp(-event.deltaY / 240), x / size, y / size, length));
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  });

  const fits = viewport.span >= length;
  return (
    <div class="matrix" ref={measured}>
      <div
        class="matrix-view"
        role="application"
        tabIndex={0}
        aria-roledescription="attention matrix"
        aria-label={`${props.name}, layer ${head.layer}, head ${head.head}: ${props.said}`}
        aria-description={kHelp}
        onKeyDown={onKey}
      >
        <canvas
          ref={canvas}
          style={{
            width: `${size + kGutter + 1}px`,
            height: `${size + kGutter + 1}px`,
            touchAction: fits ? 'pan-y' : 'none',
          }}
          onPointerDown={(event) => {
            pinch.current.set(event.pointerId, at(event));
            drag.current = { ...at(event), view: viewport, moved: false };
          }}
          onPointerMove={onMove}
          onPointerUp={onUp}
          onPointerCancel={(event) => {
            pinch.current.delete(event.pointerId);
            drag.current = null;
          }}
          onPointerLeave={() => {
            pinch.current.clear();
            drag.current = null;
            props.onHover(null);
          }}
        />
        {store.empty && !store.error && <div class="matrix-note">{store.busy ? 'Computing the matrix…' : ''}</div>}
        {store.error && <div class="matrix-note error">{store.error}</div>}
      </div>
      <fieldset class="zoom" aria-label="Zoom">
        <button type="button" aria-label="Zoom out" disabled={fits} onClick={() => zoomAtCell(0.5)}>
          −
        </button>
        <button type="button" aria-label="Zoom in" onClick={() => zoomAtCell(2)}>
          +
        </button>
        <button type="button" disabled={fits} onClick={() => props.onViewport(whole(length))}>
          Whole matrix
        </button>
        <span class="quiet">
          {fits ? `${length} × ${length},` : `${Math.round(viewport.span)} of ${length},`} queries down, keys across
          {pool > 1 ? `, ${pool} × ${pool} to a pixel` : ''}
        </span>
      </fieldset>
    </div>
  );
}

// Writes tokens, or where they have no room positions, along the left and the upper edge.
function drawLabels(context: CanvasRenderingContext2D, tokens: Token[], viewport: Viewport, size: number, cell: Cell) {
  const scale = size / viewport.span;
  const named = scale >= kLabelled;
  context.font = `${named ? Math.min(12, scale) : 10}px ${named ? 'ui-monospace, monospace' : 'system-ui, sans-serif'}`;
  context.textBaseline = 'middle';
  const unit = named ? 1 : ([5, 10, 20, 50, 100, 200, 500, 1000].find((each) => each * scale >= 38) ?? 2000);
  const label = (position: number) => (named ? visible(tokens[position]?.text ?? '').slice(0, 4) : String(position));
  const write = (text: string, along: number, active: boolean, downwards: boolean) => {
    context.fillStyle = cssColour(active ? '--ink' : '--quiet');
    context.textAlign = downwards ? 'right' : 'center';
    if (downwards) context.fillText(text, kGutter - 5, kGutter + along);
    else context.fillText(text, kGutter + along, kGutter - 9);
  };
  const draw = (first: number, active: number, downwards: boolean) => {
    const from = Math.ceil(first / unit) * unit;
    for (let position = from; position < Math.min(first + viewport.span, tokens.length); position += unit) {
      const along = (position - first + 0.5) * scale;
      if (along < 4 || along > size - 4) continue;
      const hidden = !named && Math.abs(position - active) * scale < 26;
      if (!hidden) write(label(position), along, named && position === active, downwards);
    }
    const along = (active - first + 0.5) * scale;
    if (!named && along >= 0 && along <= size) {
      const margin = downwards ? 6 : 15;
      write(String(active), Math.min(Math.max(along, margin), size - margin), true, downwards);
    }
  };
  draw(viewport.query, cell.query, true);
  draw(viewport.key, cell.key, false);
}
