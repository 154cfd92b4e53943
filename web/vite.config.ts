// Bundles the page into one file, dist/index.html, with its script and style inside: the server's policy allows no other.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

const root = import.meta.dirname;
const kProgram = 'http://127.0.0.1:8420';

// Returns one hash of all that the page is built from. tests/view/page_is_current.cmake computes the same without Node.
function hashOfSources(): string {
  const files = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  files.push('index.html', 'package-lock.json', 'package.json', 'tsconfig.json', 'vite.config.ts');
  const hash = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
  return hash(
    files
      .sort()
      .map((file) => `${hash(readFileSync(join(root, file)))} ${file}\n`)
      .join(''),
  );
}

function oneFile(): Plugin {
  return {
    name: 'one-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const page = bundle['index.html'];
      if (page?.type !== 'asset') throw new Error('there is no index.html in the bundle');
      let html = String(page.source);
      const put = (tag: RegExp, text: string) => {
        if (!tag.test(html)) throw new Error(`nothing in the page matches ${tag}`);
        html = html.replace(tag, () => text); // a function, because $ means something in a string
      };
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === 'chunk') {
          put(/<script[^>]*src=[^>]*><\/script>/, '');
          const code = part.code.replaceAll('</script', '<\\/script');
          put(/<\/body>/, `<script type="module">${code}</script>\n</body>`);
        } else if (name.endsWith('.css')) {
          put(/<link rel="stylesheet"[^>]*>/, `<style>${part.source}</style>`);
        } else if (part !== page) {
          throw new Error(`${name} cannot be put into the page`);
        }
        if (part !== page) delete bundle[name];
      }
      put(/<title>/, `<meta name="sources" content="${hashOfSources()}" />\n    <title>`);
      page.source = html;
    },
  };
}

export default defineConfig({
  root,
  plugins: [oneFile()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: { target: 'es2022', modulePreload: false, assetsInlineLimit: 1e6, cssCodeSplit: false },
  // npm run dev shows the page from its sources, and gets its answers from a tra view at the usual port.
  server: {
    host: '127.0.0.1',
    proxy: { '/api': { target: kProgram, changeOrigin: true, headers: { origin: kProgram } } },
  },
  test: { include: ['test/**/*.test.ts'] },
} as Parameters<typeof defineConfig>[0]);
