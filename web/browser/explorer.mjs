// Tests the explorer in a real browser, against the real program: node browser/explorer.mjs PROGRAM. Trains two tiny runs,
// and compares what the page shows with what the program answers, digit by digit. Exits with 77 if a browser is missing.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBrowser, serve, tra, whatIsMissing } from './open.mjs';

const kSkipped = 77;
const program = process.argv[2];
const missing = await whatIsMissing();
if (missing) {
  console.log(`skipped: ${missing}`);
  process.exit(kSkipped);
}

const folder = mkdtempSync(join(tmpdir(), 'tra-explorer-'));
const config = join(folder, 'tiny.toml');
writeFileSync(
  config,
  `[model]
layers = 2
heads = 2
width = 32
[data]
task = "flipflop"
lengths = [24, 24]
[train]
steps = 40
batch = 8
lr = 3e-3
[eval]
examples = 2
`,
);
const runs = {};
for (const attention of ['tra', 'fot', 'diff']) {
  runs[attention] = join(folder, 'runs', attention);
  tra(program, 'train', config, '--quiet', '--set', `model.attention=${attention}`, '--run', runs[attention]);
}
rmSync(join(runs.diff, 'checkpoints'), { recursive: true });

const { address, stop } = await serve(program, [join(folder, 'runs')]);
const { browser, close } = await openBrowser();
const hosts = new Set();
const complaints = [];
const page = await browser.newPage();
page.setDefaultTimeout(20000);
browser.on('request', (request) => {
  const url = new URL(request.url());
  if (url.protocol !== 'data:') hosts.add(url.origin);
});
page.on('console', (message) => {
  if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
});
page.on('pageerror', (error) => complaints.push(String(error)));

const post = async (path, body) => {
  const answer = await fetch(address + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return answer.json();
};
// Writes a number as the page does.
const shown = (value) => (value === null ? '−∞' : String(value).replaceAll('-', '−'));
const pane = (letter) => page.locator(`[data-pane=${letter}]`);
const part = (letter, name) => pane(letter).locator(`[data-part="${name}"]`).textContent();

// Waits until a pane shows this cell, and compares every part of its logit with the row that the program sends.
async function expectCell(letter, row, query, key) {
  await pane(letter).locator(`.equation[data-query="${query}"][data-key="${key}"]`).waitFor();
  assert.equal(await part(letter, 'S'), shown(row.score[key]));
  if (row.state[key] === 1) {
    assert.equal(await part(letter, 'weight'), '0, dropped');
    return;
  }
  assert.equal(await part(letter, 'logit'), shown(row.logit[key]));
  assert.equal(await part(letter, 'weight'), row.state[key] === 3 ? '0, skipped' : shown(row.weight[key]));
  if (row.log_gate === null) return;
  assert.equal(await part(letter, 'count'), shown(row.position[key]));
  assert.equal(await part(letter, 'g = log gate'), shown(row.log_gate));
}

const steps = [];
const step = (name, body) => steps.push([name, body]);
let tokens;
let listed;

step('the page opens with the first run and says which cannot be shown', async () => {
  listed = (await (await fetch(`${address}api/runs`)).json()).runs;
  await page.goto(address);
  await pane('A').waitFor();
  await page.getByText('1 of 3 runs cannot be shown').waitFor();
  await page.getByLabel('Run A', { exact: true }).selectOption('runs/tra');
  await pane('A').getByRole('heading', { name: 'TRA' }).waitFor();
  await page.getByLabel('Length', { exact: true }).fill('24');
  await page.keyboard.press('Enter');
  await page.getByText('48 × 48').first().waitFor();
});

step('a head is chosen, and its row has the digits of the program', async () => {
  const id = listed.find((run) => run.name === 'runs/tra').id;
  const input = await post('api/input', { run: id, split: 'iid', index: 0, length: 24 });
  tokens = input.tokens;
  const query = input.targets.findLastIndex((target) => target >= 0);
  for (const head of [1, 0]) {
    await pane('A')
      .getByRole('radio', { name: `Layer 0, head ${head}` })
      .check();
    const row = await post('api/row', { run: id, tokens, layer: 0, head, query });
    const key = row.weight.indexOf(Math.max(...row.weight));
    await pane('A').locator(`.equation[data-head="0.${head}"]`).waitFor();
    if (row.weight[key] > 0) await expectCell('A', row, query, key);
  }
  const row = await post('api/row', { run: id, tokens, layer: 0, head: 0, query });
  const table = pane('A').getByRole('table');
  assert.equal(await table.locator('tbody tr').count(), query + 1);
  for (const key of [0, query >> 1, query]) {
    const cells = table.locator('tbody tr', { has: page.locator(`th:text-is("${key}")`) }).locator('td');
    assert.equal(await cells.nth(1).getAttribute('title'), shown(row.score[key]));
    assert.equal(await cells.last().getAttribute('title'), shown(row.weight[key]));
  }
  for (const state of [1, 2]) {
    const key = row.state.indexOf(state);
    if (key < 0) continue;
    await table.locator('tbody tr', { has: page.locator(`th:text-is("${key}")`) }).click();
    await expectCell('A', row, query, key);
  }
});

step('arrow keys move the cursor, and a live region says the cell', async () => {
  const id = listed.find((run) => run.name === 'runs/tra').id;
  const matrix = pane('A').getByRole('application');
  await matrix.focus();
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => document.querySelector('[role=status]')?.textContent?.includes('score'));
  // The link follows a moment later.
  await page.waitForFunction(() => {
    const link = new URLSearchParams(location.hash.slice(1));
    return link.has('k') && Number(link.get('k')) === Number(link.get('q')) - 1;
  });
  const cell = new URLSearchParams(new URL(page.url()).hash.slice(1));
  const [q, k] = [Number(cell.get('q')), Number(cell.get('k'))];
  await expectCell('A', await post('api/row', { run: id, tokens, layer: 0, head: 0, query: q }), q, k);
});

step('the matrix on the canvas has a colour of its own for dropped keys', async () => {
  const id = listed.find((run) => run.name === 'runs/tra').id;
  const colours = await page.evaluate(() => {
    const canvas = document.querySelector('[data-pane=A] .matrix canvas');
    const { width, height } = canvas;
    const data = canvas.getContext('2d').getImageData(0, 0, width, height).data;
    const found = {};
    for (let i = 0; i < data.length; i += 4) {
      const name = `${data[i]},${data[i + 1]},${data[i + 2]}`;
      found[name] = (found[name] ?? 0) + 1;
    }
    return found;
  });
  const rows = await Promise.all(
    tokens.map((_, query) => post('api/row', { run: id, tokens, layer: 0, head: 0, query })),
  );
  const dropped = rows.flatMap((row) => row.state).filter((state) => state === 1).length;
  assert.ok(dropped > 0, 'the tiny run drops no key; train another seed');
  const cell = (640 / tokens.length) ** 2;
  assert.ok((colours['246,216,178'] ?? 0) > (dropped * cell) / 4, `${dropped} keys are dropped`);
});

step('the gate slider recomputes the row', async () => {
  const id = listed.find((run) => run.name === 'runs/tra').id;
  const cell = new URLSearchParams(new URL(page.url()).hash.slice(1));
  const query = Number(cell.get('q'));
  const slider = pane('A').getByLabel('Gate');
  await slider.fill('-0.25');
  await page.waitForFunction(() => location.hash.includes('ag=-0.25'));
  const row = await post('api/row', { run: id, tokens, layer: 0, head: 0, query, log_gate: -0.25 });
  const key = row.state.indexOf(2);
  assert.ok(key >= 0);
  await pane('A')
    .locator('tbody tr', { has: page.locator(`th:text-is("${key}")`) })
    .click();
  await page.waitForFunction(() => document.querySelector('[data-part="g = log gate"]')?.textContent === '−0.25');
  await expectCell('A', row, query, key);
  await pane('A').getByRole('button', { name: "Model's" }).click();
  const own = await post('api/row', { run: id, tokens, layer: 0, head: 0, query });
  await page.waitForFunction(
    (text) => document.querySelector('[data-part="g = log gate"]')?.textContent === text,
    shown(own.log_gate),
  );
  await expectCell('A', own, query, key);
});

step('a token is dropped, counts follow, and undo brings it back', async () => {
  const id = listed.find((run) => run.name === 'runs/tra').id;
  const query = Number(new URLSearchParams(new URL(page.url()).hash.slice(1)).get('q'));
  await page.locator('#token-5').click();
  await page.getByRole('button', { name: 'Drop', exact: true }).click();
  await page.getByText('Since the change').waitFor();
  const edited = tokens.filter((_, i) => i !== 5);
  const row = await post('api/row', { run: id, tokens: edited, layer: 0, head: 0, query: query - 1 });
  const key = row.state.indexOf(2);
  await pane('A')
    .locator(`.equation[data-query="${query - 1}"]`)
    .waitFor();
  await pane('A')
    .locator('tbody tr', { has: page.locator(`th:text-is("${key}")`) })
    .click();
  await expectCell('A', row, query - 1, key);
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await page.getByText('Since the change').waitFor({ state: 'hidden' });
  await page.locator('#token-6').click();
  await page.getByLabel('Symbol for token 6').selectOption('r');
  await page.getByRole('button', { name: 'Insert before' }).click();
  await page.locator('.chip.new', { hasText: 'r' }).waitFor();
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
});

step('an example is stretched, and keys are compared with where they were', async () => {
  await page.getByRole('radio', { name: '4×', exact: true }).check();
  await page.getByText('192 × 192').first().waitFor();
  await page.getByText('Since the stretch').waitFor();
  await page.getByRole('radio', { name: '1×', exact: true }).check();
  await page.getByText('48 × 48').first().waitFor();
});

step('two runs stand side by side on one input, and say what they answer', async () => {
  await page.getByLabel('Run B').selectOption('runs/fot');
  await pane('B').getByRole('heading', { name: 'FoT' }).waitFor();
  await pane('B').getByRole('radio', { name: 'Layer 0, head 1' }).check();
  const query = 20;
  await page.locator('#token-20').dblclick();
  for (const [letter, name, head] of [
    ['A', 'runs/tra', 0],
    ['B', 'runs/fot', 1],
  ]) {
    const id = listed.find((run) => run.name === name).id;
    const row = await post('api/row', { run: id, tokens, layer: 0, head, query });
    await pane(letter).locator(`.equation[data-head="0.${head}"][data-query="${query}"]`).waitFor();
    await pane(letter)
      .locator('tbody tr', { has: page.locator('th:text-is("7")') })
      .first()
      .click();
    await expectCell(letter, row, query, 7);
    const { predictions } = await post('api/pass', { run: id, tokens });
    const verdict = await pane(letter).locator('.verdict').textContent();
    assert.ok(verdict.includes(`answers ${predictions[query].text} `), verdict);
    const score = await page.locator(`[data-score=${letter}]`).textContent();
    const input = await post('api/input', { run: id, split: 'iid', index: 0, length: 24 });
    const asked = input.targets.map((target, i) => [target, i]).filter(([target]) => target >= 0);
    const right = asked.filter(([target, i]) => predictions[i].id === target).length;
    assert.ok(score.includes(`${right} of ${asked.length} answer`), score);
  }
});

step('a link restores the state', async () => {
  await page.getByRole('radio', { name: 'Score S', exact: true }).check();
  await page.waitForFunction(() => location.hash.includes('show=score'));
  const link = page.url();
  const equation = await pane('B').locator('.equation').textContent();
  await page.goto('about:blank');
  await page.goto(link);
  await pane('B').locator('.equation[data-query="20"][data-key="7"]').waitFor();
  assert.equal(await pane('B').locator('.equation').textContent(), equation);
  assert.ok(await page.getByRole('radio', { name: 'Score S' }).isChecked());
  assert.ok(await pane('B').getByRole('radio', { name: 'Layer 0, head 1' }).isChecked());
});

step('an input is typed, and what is wrong with one is said in words', async () => {
  await page.getByRole('radio', { name: 'Type', exact: true }).check();
  await page.getByLabel('Input, as symbols').fill('w 1 i 0 r');
  await page.getByRole('button', { name: 'Show' }).click();
  await pane('A').locator('.equation[data-query="4"]').waitFor();
  const before = complaints.length;
  await page.getByLabel('Input, as symbols').fill('w 1 q');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByRole('alert').filter({ hasText: "'q'" }).waitFor();
  complaints.splice(before); // the browser reports the refused request itself
});

step('both themes and a narrow window work', async () => {
  await page.getByLabel('Input, as symbols').fill('w 1 i 0 i 1 w 0 i 1 r');
  await page.getByRole('button', { name: 'Show' }).click();
  await pane('A').locator('.equation[data-query="10"]').waitFor();
  await page.getByRole('button', { name: 'Dark' }).click();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.waitForTimeout(100);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, `the page is ${overflow} px wider than the window`);
});

let failed = false;
try {
  for (const [name, body] of steps) {
    await body();
    console.log(`ok: ${name}`);
  }
  assert.deepEqual([...hosts], [new URL(address).origin], 'requests went to another host');
  assert.deepEqual(complaints, [], 'the console has errors or warnings');
  console.log('ok: no console error, no request to any other host');
} catch (error) {
  failed = true;
  console.error(error);
  console.error('console:', complaints);
  if (process.env.TRA_SHOT) await page.screenshot({ path: process.env.TRA_SHOT, fullPage: true });
} finally {
  await close();
  const code = await stop();
  if (code !== 0) console.error(`tra view ended with ${code}`);
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
