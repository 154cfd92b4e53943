// The bar at the top: the link to what is shown, and the theme.
import { useEffect, useState } from 'preact/hooks';
import type { Theme } from './colour.ts';

// Follows the system until a theme is chosen.
export function useTheme(): [Theme, () => void] {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const stored = localStorage.getItem('theme');
  const [own, setOwn] = useState<Theme | null>(stored === 'light' || stored === 'dark' ? stored : null);
  const [system, setSystem] = useState<Theme>(dark.matches ? 'dark' : 'light');
  useEffect(() => {
    const changed = () => setSystem(dark.matches ? 'dark' : 'light');
    dark.addEventListener('change', changed);
    return () => dark.removeEventListener('change', changed);
  }, []);
  const theme = own ?? system;
  document.documentElement.dataset['theme'] = theme;
  const toggle = () => {
    const next = theme === 'dark' ? 'light' : 'dark';
    localStorage.setItem('theme', next);
    setOwn(next);
  };
  return [theme, toggle];
}

export function TopBar({ theme, onTheme }: { theme: Theme; onTheme: () => void }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      setCopied(true);
      setTimeout(() => setCopied(false), 1600);
    } catch {
      window.prompt('The link to this view:', location.href);
    }
  };
  return (
    <header class="top">
      <h1>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M1 1v14h14z" class="mark" />
          <path d="M4 8v3h3z" class="hole" />
        </svg>
        tra <span>view</span>
      </h1>
      <span class="spacer" />
      <button type="button" onClick={copy}>
        {copied ? 'Copied' : 'Copy link'}
      </button>
      <button type="button" title={`Use the ${theme === 'dark' ? 'light' : 'dark'} theme`} onClick={onTheme}>
        {theme === 'dark' ? 'Light' : 'Dark'}
      </button>
    </header>
  );
}
