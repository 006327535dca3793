// `npm run console -- screenshots`: takes the pictures of docs/console.md from the system that `npm start`
// runs.
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import sharp from 'sharp';
import { z } from 'zod';
import { findChromium } from './servers/chromium.ts';
import { describeError, openTerminal } from './terminal.ts';

const PROJECT_DIR = join(import.meta.dirname, '..');
const PICTURES = join(PROJECT_DIR, 'docs/pictures');
const SIZE = { width: 1280, height: 800 };
const SYSTEM = z.object({
  baseUrl: z.url(),
  apiKey: z.string(),
  user: z.object({ email: z.string(), password: z.string() }),
});
type RunningSystem = z.infer<typeof SYSTEM>;

/** Orders that show what a list looks like: pictures, a video, one that fails, one that takes long. */
const ORDERS: readonly [route: string, body: object][] = [
  ['images', { model: 'gpt-image-2', prompt: 'A lighthouse at dusk, long exposure, calm sea' }],
  ['images', { model: 'gpt-image-2', prompt: 'A ceramic mug on linen, soft window light', resolution: '2K' }],
  ['images', { model: 'gpt-image-2', prompt: 'Four variations of a paper crane', n: 4 }],
  ['videos', { model: 'grok-imagine-video', prompt: 'Waves break against a pier', duration: 4 }],
  ['videos', { model: 'kling-3.0', prompt: 'A violin maker at work [[sandbox outcome=fail]]', duration: 5 }],
  [
    'videos',
    { model: 'veo-3.1-fast', prompt: 'A paper boat in the rain [[sandbox seconds=90]]', duration: 8 },
  ],
];
/** Time in which all but the last of the orders have ended. */
const ORDERS_MS = 20_000;
/** Time in which a page has read and drawn everything. */
const PAGE_MS = 2_500;

const terminal = openTerminal();
try {
  if (process.argv[2] !== 'screenshots') throw new Error('Usage: npm run console -- screenshots');
  await takeScreenshots(readSystem());
} catch (error) {
  terminal.fail(describeError(error));
  process.exitCode = 1;
}

function readSystem(): RunningSystem {
  const file = join(resolve(process.env['SVC_DATA_DIR'] || '.data'), 'dev.json');
  try {
    return SYSTEM.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    throw new Error(`No system runs on ${file}: start one with npm start.`, { cause });
  }
}

async function takeScreenshots({ baseUrl, apiKey, user }: RunningSystem): Promise<void> {
  const executablePath = findChromium();
  if (executablePath === null)
    throw new Error('Chromium is missing: install it, such as Debian’s package chromium.');
  mkdirSync(PICTURES, { recursive: true });
  await terminal.step('orders to show', () => sendOrders(baseUrl, apiKey));
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    for (const theme of ['light', 'dark'] as const) {
      const context = await browser.newContext({
        viewport: SIZE,
        locale: 'en-GB',
        timezoneId: 'Europe/Berlin',
      });
      await context.addCookies([{ name: 'svc_theme', value: theme, url: baseUrl }]);
      await context.request.post(`${baseUrl}/api/auth/login`, { data: user });
      const page = await context.newPage();
      if (theme === 'light') await takeLight(page, baseUrl);
      else await takeDark(page, baseUrl);
      await context.close();
    }
  } finally {
    await browser.close();
  }
}

async function takeLight(page: Page, baseUrl: string): Promise<void> {
  await take(page, `${baseUrl}/console/tasks`, 'console-tasks');
  await page.goto(`${baseUrl}/console/create?model=veo-3.1-fast`);
  await page.getByLabel('Prompt').fill('Waves break against a pier, slow camera');
  await take(page, null, 'console-create');
}

async function takeDark(page: Page, baseUrl: string): Promise<void> {
  await page.goto(`${baseUrl}/console/tasks?status=completed&mode=video`);
  await page.locator('.main-link').first().click();
  await take(page, null, 'console-task');
  await take(page, `${baseUrl}/console/credits`, 'console-credits');
}

async function take(page: Page, url: string | null, name: string): Promise<void> {
  if (url !== null) await page.goto(url);
  await page.waitForTimeout(PAGE_MS);
  // With 256 colours: a third of the bytes, and no difference that is seen.
  const picture = sharp(await page.screenshot()).png({ palette: true, compressionLevel: 9 });
  await picture.toFile(join(PICTURES, `${name}.png`));
  terminal.note(`docs/pictures/${name}.png`);
}

async function sendOrders(baseUrl: string, apiKey: string): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  for (const [route, body] of ORDERS) {
    const url = `${baseUrl}/v1/${route}/generations`;
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  }
  await new Promise((done) => setTimeout(done, ORDERS_MS));
}
