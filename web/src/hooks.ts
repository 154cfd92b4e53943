import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Refused } from './api.ts';

export interface Answered<T> {
  value: T | null; // the newest answer, which may be to an older question
  key: string | null; // the question it answers
  error: string | null;
  busy: boolean;
}

// Asks anew whenever the key changes; null: asks nothing. Answers that come too late are dropped.
export function useAnswer<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>): Answered<T> {
  const [answer, setAnswer] = useState<Answered<T>>({ value: null, key: null, error: null, busy: false });
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    if (key === null) {
      setAnswer({ value: null, key: null, error: null, busy: false });
      return;
    }
    const control = new AbortController();
    setAnswer((before) => ({ ...before, busy: true }));
    latest.current(control.signal).then(
      (value) => !control.signal.aborted && setAnswer({ value, key, error: null, busy: false }),
      (error: unknown) => {
        if (control.signal.aborted) return;
        const why = error instanceof Refused ? error.message : `The page failed: ${error}`;
        setAnswer({ value: null, key, error: why, busy: false });
      },
    );
    return () => control.abort();
  }, [key]);
  return answer;
}

// Returns the width of an element, and what to set as its ref.
export function useWidth(): [number, (element: HTMLElement | null) => void] {
  const [width, setWidth] = useState(0);
  const [element, setElement] = useState<HTMLElement | null>(null);
  useLayoutEffect(() => {
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    setWidth(Math.floor(element.clientWidth));
    return () => observer.disconnect();
  }, [element]);
  return [width, useCallback((found: HTMLElement | null) => setElement(found), [])];
}

// Prepares a canvas for drawing in CSS pixels.
export function contextOf(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const density = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * density), Math.round(height * density)];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const context = canvas.getContext('2d');
  context?.setTransform(density, 0, 0, density, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

const colours = new Map<string, string>();

// Returns a colour of the style sheet. Asking the browser makes it compute styles anew, so it is asked once a theme.
export function cssColour(name: string): string {
  const key = `${document.documentElement.dataset['theme']}${name}`;
  let colour = colours.get(key);
  if (colour === undefined) {
    colour = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    colours.set(key, colour);
  }
  return colour;
}

// Returns a value once it has rested for a moment: what is slow to show need not follow every move of the mouse.
export function useSettled<T>(value: T, milliseconds: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (milliseconds === 0) {
      setSettled(value);
      return;
    }
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return milliseconds === 0 ? value : settled;
}
