// Starts tra view and a browser, for the browser test and the picture of the documents.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const kBrowsers = [
  process.env.TRA_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

// Returns what a browser test needs and this machine does not have, in words; null: nothing.
export async function whatIsMissing() {
  if (!kBrowsers.some((path) => path && existsSync(path))) return 'there is no chromium; scripts/setup.sh installs it';
  try {
    await import('playwright-core');
  } catch {
    return 'web/node_modules has no playwright-core; run: cd web && npm install';
  }
  return null;
}

// Runs tra and returns what it prints.
export const tra = (program, ...args) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

// Serves folders at a free port; returns the address, and a function that ends the program.
export async function serve(program, folders) {
  const server = spawn(program, ['view', '--port', '0', '--threads', '1', ...folders], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  const address = await new Promise((resolve, reject) => {
    server.stderr.on('data', (bytes) => {
      said += bytes;
      const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(said);
      if (found) resolve(found[0]);
    });
    server.on('exit', () => reject(new Error(`tra view ended: ${said}`)));
    server.on('error', reject);
  });
  const stop = () =>
    new Promise((resolve) => {
      server.on('exit', (code) => resolve(code));
      server.kill('SIGINT');
    });
  return { address, stop };
}

// Opens a browser that has never been used, and that asks for nothing by itself.
export async function openBrowser() {
  const { chromium } = await import('playwright-core');
  const home = await mkdtemp(join(tmpdir(), 'tra-browser-'));
  const quiet = ['quic', 'background-networking', 'component-update', 'sync', 'gpu', 'dev-shm-usage'].map(
    (each) => `--disable-${each}`,
  );
  const browser = await chromium.launchPersistentContext(home, {
    executablePath: kBrowsers.find((path) => path && existsSync(path)),
    headless: true,
    args: ['--no-sandbox', '--no-first-run', ...quiet],
  });
  // With TRA_PAGE=dist/index.html this page is shown instead of the one in the program, to try it without building.
  const { TRA_PAGE } = process.env;
  if (TRA_PAGE) await browser.route(/^http:\/\/127\.0\.0\.1:\d+\/$/, (route) => route.fulfill({ path: TRA_PAGE }));
  const close = async () => {
    await browser.close();
    await rm(home, { recursive: true, force: true });
  };
  return { browser, close };
}
