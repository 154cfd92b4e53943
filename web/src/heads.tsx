// Chooses a layer and a head, each shown as a small picture of its weights.
import { useEffect, useRef, useState } from 'preact/hooks';
import * as api from './api.ts';
import { paint, type Theme } from './colour.ts';
import type { Token } from './tokens.ts';

const kPixels = 40;
const kMostCells = 24e6; // computed for the pictures; beyond it heads have no pictures

interface Props {
  label: string;
  run: api.Run;
  head: api.HeadId;
  tokens: Token[];
  theme: Theme;
  onHead: (head: api.HeadId) => void;
}

function Picture(props: { tile: api.Tile | null; theme: Theme }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { tile, theme } = props;
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!canvas.current || !context || !tile) return;
    canvas.current.width = tile.columns;
    canvas.current.height = tile.rows;
    const image = context.createImageData(tile.columns, tile.rows);
    paint(tile, theme, 'weight', { low: 0, high: 1 }, image.data);
    context.putImageData(image, 0, 0);
  }, [tile, theme]);
  return <canvas ref={canvas} class={tile ? '' : 'waiting'} aria-hidden="true" />;
}

export function HeadPicker({ label, run, head, tokens, theme, onHead }: Props) {
  const ids = tokens.map((token) => token.id);
  const matrices: api.HeadId[] = [];
  for (let layer = 0; layer < run.layers; ++layer) {
    for (let at = 0; at < run.heads; ++at) {
      for (let attention = 0; attention < run.attentions; ++attention) matrices.push({ layer, head: at, attention });
    }
  }
  const pictured = matrices.length * ids.length ** 2 <= kMostCells;
  const key = `${run.id}:${ids.join()}`;
  const [tiles, setTiles] = useState<{ key: string; tiles: (api.Tile | null)[] }>({ key: '', tiles: [] });
  useEffect(() => {
    if (!pictured) return;
    const control = new AbortController();
    const pool = Math.ceil(ids.length / kPixels);
    const found: (api.Tile | null)[] = matrices.map(() => null);
    const all: [number, number] = [0, ids.length];
    (async () => {
      for (const [i, each] of matrices.entries()) {
        found[i] = await api.tile(run, ids, each, 'weight', { queries: all, keys: all, pool }, control.signal);
        setTiles({ key, tiles: [...found] });
      }
    })().catch(() => {}); // the matrix asks the same and says what is wrong
    return () => control.abort();
  }, [key, pictured]);

  const same = (a: api.HeadId) => a.layer === head.layer && a.head === head.head && a.attention === head.attention;
  return (
    <fieldset class="heads" style={{ '--columns': run.heads * run.attentions }}>
      <legend class="hidden">{label}</legend>
      {matrices.map((each, i) => {
        const name = `Layer ${each.layer}, head ${each.head}${run.attentions > 1 ? `, attention ${each.attention}` : ''}`;
        return (
          <label key={name} class="head" title={name}>
            <input type="radio" name={label} aria-label={name} checked={same(each)} onChange={() => onHead(each)} />
            {pictured && <Picture tile={tiles.key === key ? (tiles.tiles[i] ?? null) : null} theme={theme} />}
            <span aria-hidden="true">
              L{each.layer} H{each.head}
              {run.attentions > 1 ? (each.attention === 0 ? ' +' : ' −') : ''}
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}
