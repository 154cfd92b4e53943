// Makes a picture of the explorer in a state: node browser/picture.mjs PROGRAM OUT.png LINK FOLDER... where LINK is what
// follows # in the address of the page. WIDTH, HEIGHT and THEME are taken from the environment.
import { openBrowser, serve, whatIsMissing } from './open.mjs';

const [program, out, link, ...folders] = process.argv.slice(2);
const missing = await whatIsMissing();
if (missing) {
  console.error(missing);
  process.exit(1);
}
const { address, stop } = await serve(program, folders);
const { browser, close } = await openBrowser();
const { WIDTH = '1280', HEIGHT, THEME = 'light' } = process.env;
const page = await browser.newPage();
await page.setViewportSize({ width: Number(WIDTH), height: Number(HEIGHT ?? 900) });
await page.emulateMedia({ colorScheme: THEME });
await page.goto(`${address}#${link}`);
await page.waitForLoadState('networkidle');
await page.waitForTimeout(300); // to draw what has come
await page.screenshot({ path: out, fullPage: HEIGHT === undefined });
await close();
await stop();
