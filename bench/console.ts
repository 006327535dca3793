// Measures the console in a browser: until rows are visible, until the next page is, until a change is on the
// screen, and what many open consoles cost the API.
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium, type Browser, type Page } from 'playwright-core';
import { openDatabase } from '../db/open-database.ts';
import { parseCredits } from '../domain/credits.ts';
import { findChromium } from '../dev/servers/chromium.ts';
import { createBenchCaller, type BenchCaller } from './admission/callers.ts';
import { printTable, quantile } from './measure.ts';
import { processorSeconds } from './processes.ts';
import { bySize } from './size.ts';
import { startBenchSystem, type BenchSystem } from './system.ts';
import { Verdict, type Row } from './verdict.ts';

const TASKS = 60;
const LOADS = bySize({ full: 15, small: 5 });
const CHANGES = bySize({ full: 30, small: 8 });
/** At most four streams belong to one user. */
const STREAMS_PER_USER = 4;
const CONSOLES = bySize({ full: 200, small: 40 });
const OPEN_MS = bySize({ full: 30_000, small: 10_000 });
const SETTLING_MS = 3_000;
const COLD_GOAL_MS = 350;
const NEXT_PAGE_GOAL_MS = 100;
const CHANGE_GOAL_MS = 1_500;
const CORES_GOAL = 0.03;

/** Runs `npm run bench -- console`. Needs a Chromium on this machine. */
export async function benchConsole(): Promise<readonly Row[]> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error('Chromium is missing: install it, such as Debian’s chromium.');
  const system = await startBenchSystem();
  const database = openDatabase({ url: system.databaseUrl, connectionsMax: 2 });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const verdict = new Verdict();
  const newCaller = () => createBenchCaller(system, database, parseCredits('100000'));
  try {
    const caller = await newCaller();
    for (let task = 0; task < TASKS; task += 1)
      await caller.createImage(`picture ${task} [[sandbox seconds=0]]`);
    await sleep(SETTLING_MS);
    const cold = await measureColdLoads(browser, system, caller);
    const next = await measureNextPages(browser, system, caller);
    const change = await measureChanges(browser, system, caller);
    await browser.close();
    const cores = await measureOpenConsoles(system, newCaller);
    printTable([
      ['what', 'p50', 'p95'],
      [
        'cold load: rows visible',
        `${quantile(cold, 0.5).toFixed(0)} ms`,
        `${quantile(cold, 0.95).toFixed(0)} ms`,
      ],
      [
        'next page in the app',
        `${quantile(next, 0.5).toFixed(0)} ms`,
        `${quantile(next, 0.95).toFixed(0)} ms`,
      ],
      [
        'a change on the screen',
        `${quantile(change, 0.5).toFixed(0)} ms`,
        `${quantile(change, 0.95).toFixed(0)} ms`,
      ],
      [`${CONSOLES} open consoles`, `${cores.toFixed(3)} cores`, ''],
    ]);
    verdict.atMost(
      'console: cold load until rows are visible, median',
      quantile(cold, 0.5),
      COLD_GOAL_MS,
      ' ms',
    );
    verdict.atMost('console: next page in the app, median', quantile(next, 0.5), NEXT_PAGE_GOAL_MS, ' ms');
    verdict.atMost('console: change to screen, p95', quantile(change, 0.95), CHANGE_GOAL_MS, ' ms');
    verdict.atMost(`console: cores of the API with ${CONSOLES} open consoles`, cores, CORES_GOAL);
    return verdict.rows;
  } finally {
    await browser.close();
    await database.close();
    await system.stop();
  }
}

/**
 * Each with an empty cache, as on the first visit. Without the browser's own start: the windows are there
 * before, since Chromium works for a second on each that it opens.
 */
async function measureColdLoads(
  browser: Browser,
  system: BenchSystem,
  caller: BenchCaller,
): Promise<number[]> {
  const times: number[] = [];
  const pages: Page[] = [];
  for (let load = 0; load <= LOADS; load += 1) pages.push(await openPage(browser, system, caller));
  await sleep(SETTLING_MS);
  for (const [load, page] of pages.entries()) {
    await page.goto(`${system.baseUrl}/console/tasks`, { waitUntil: 'commit' });
    await page.locator('tbody .main-link').first().waitFor();
    const ms = await page.evaluate<number>('performance.now()');
    // The first one warms the files of the API up.
    if (load > 0) times.push(ms);
    await page.context().close();
  }
  return times;
}

/** From the click to the drawn page, in the page's own clock. */
async function measureNextPages(
  browser: Browser,
  system: BenchSystem,
  caller: BenchCaller,
): Promise<number[]> {
  const page = await openPage(browser, system, caller);
  await page.goto(`${system.baseUrl}/console/tasks`);
  await page.locator('tbody .main-link').first().waitFor();
  const times: number[] = [];
  for (let round = 0; round < LOADS; round += 1)
    for (const place of ['keys', 'credits', 'tasks'])
      times.push(await page.evaluate<number>(clickAndWait(place)));
  await page.context().close();
  return times;
}

/** Clicks the link of a page and waits until its table has rows. */
function clickAndWait(place: string): string {
  return `new Promise((resolve) => {
    const link = document.querySelector('.rail a[href$="/console/${place}"]');
    const beganAt = performance.now();
    const look = () =>
      location.pathname.endsWith('/${place}') && document.querySelector('tbody tr:not([aria-hidden])')
        ? resolve(performance.now() - beganAt)
        : requestAnimationFrame(look);
    link.click();
    look();
  })`;
}

/** From the row's own time of the change, which the API writes, to the moment at which the page shows it. */
async function measureChanges(browser: Browser, system: BenchSystem, caller: BenchCaller): Promise<number[]> {
  const page = await openPage(browser, system, caller);
  const times: number[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    const { taskId } = await caller.createImage('one that ends [[sandbox seconds=1]]');
    if (taskId === null) throw new Error('a task was refused');
    await page.goto(`${system.baseUrl}/console/tasks/${taskId}`);
    await page.locator('.status.completed').first().waitFor({ timeout: 60_000 });
    const shownAt = Date.now();
    const answer = await page.request.get(`${system.baseUrl}/api/tasks/${taskId}`);
    const { data }: { data: { completedAt: string } } = await answer.json();
    times.push(shownAt - Date.parse(data.completedAt));
  }
  await page.context().close();
  return times;
}

/** Cores that the API uses while this many streams are open and nothing happens. */
async function measureOpenConsoles(
  { baseUrl, pids }: BenchSystem,
  newCaller: () => Promise<BenchCaller>,
): Promise<number> {
  const ending = new AbortController();
  const streams: Promise<void>[] = [];
  for (let user = 0; user < CONSOLES / STREAMS_PER_USER; user += 1) {
    const { sessionToken } = await newCaller();
    for (let stream = 0; stream < STREAMS_PER_USER; stream += 1)
      streams.push(readStream(`${baseUrl}/api/events`, sessionToken, ending.signal));
  }
  await sleep(SETTLING_MS);
  const api = pids.api ?? 0;
  const before = processorSeconds([api]);
  await sleep(OPEN_MS);
  const cores = (processorSeconds([api]) - before) / (OPEN_MS / 1000);
  ending.abort();
  await Promise.allSettled(streams);
  return cores;
}

/** Reads until it is told to end. Throws when the API refuses the stream. */
async function readStream(url: string, sessionToken: string, signal: AbortSignal): Promise<void> {
  const answer = await fetch(url, { headers: { cookie: `svc_session=${sessionToken}` }, signal });
  if (!answer.ok || answer.body === null) throw new Error(`the stream was answered with ${answer.status}`);
  for await (const _ of answer.body);
}

async function openPage(browser: Browser, { baseUrl }: BenchSystem, caller: BenchCaller): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  await context.addCookies([{ name: 'svc_session', value: caller.sessionToken, url: baseUrl }]);
  return context.newPage();
}
