// A whole gateway with its built console, and a browser to look at it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { chromium, type Browser, type Page } from 'playwright-core';
import { buildConsole } from '../../../console/build.ts';
import { findChromium } from '../../../dev/servers/chromium.ts';
import { createSession } from '../../../db/identity/sessions.ts';
import { startGateway, type TestGateway, type TestUser } from '../servers/gateway.ts';

export interface TestConsole {
  gateway: TestGateway;
  /** Opens a page of the console, as this user; null: without a session. */
  open(user: TestUser | null, path: string, options?: PageOptions): Promise<Page>;
  stop(): Promise<void>;
}

export interface PageOptions {
  width?: number;
  theme?: 'light' | 'dark';
  language?: 'en' | 'zh';
  /** Address in front of the gateway, such as a proxy's. */
  baseUrl?: string;
}

/** Other than by default: the console reads it. */
export const CALL_SECONDS_MAX = 7_200;
const HEIGHT = 900;
/** Ends a wait for what does not come; generous, because the machine may be busy with other tests. */
const WAIT_MS = 45_000;
/** Answers that refuse a request are part of what is tested; the browser reports each of them. */
const REFUSED = /^Failed to load resource: the server responded with a status of 4/;

/** Starts everything; null on a machine without a Chromium. */
export async function startConsole(): Promise<TestConsole | null> {
  const executablePath = findChromium();
  if (executablePath === null) return null;
  const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-console-'));
  await buildConsole(folder, { isRelease: true });
  const env = { SVC_CONSOLE_DIR: folder, SVC_STREAM_SECONDS_MAX: String(CALL_SECONDS_MAX) };
  const gateway = await startGateway({ env });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  return {
    gateway,
    open: (user, path, options) => openPage(gateway, browser, user, path, options),
    stop: async () => {
      await browser.close();
      await gateway.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openPage(
  gateway: TestGateway,
  browser: Browser,
  user: TestUser | null,
  path: string,
  { width = 1400, theme = 'light', language = 'en', baseUrl = gateway.baseUrl }: PageOptions = {},
): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width, height: HEIGHT },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
  });
  const cookies: { name: string; value: string; url: string }[] = [
    { name: 'svc_theme', value: theme, url: baseUrl },
    { name: 'svc_language', value: language, url: baseUrl },
  ];
  if (user) {
    const value = await createSession(gateway.em(), gateway.secrets, user.id);
    cookies.push({ name: 'svc_session', value, url: baseUrl });
  }
  await context.addCookies(cookies);
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  watchForProblems(page);
  await page.goto(`${baseUrl}/console/${path}`);
  await page.locator('h1').first().waitFor();
  return page;
}

const problems = new WeakMap<Page, string[]>();

/** Collects what the browser reports: errors, violations of the page's policy, requests to other origins. */
function watchForProblems(page: Page): void {
  const found: string[] = [];
  problems.set(page, found);
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'blob:' && origin !== new URL(page.url()).origin && page.url() !== 'about:blank')
      found.push(`a request to ${origin}`);
  });
  page.on('pageerror', (error) => found.push(String(error.stack)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !REFUSED.test(message.text())) found.push(message.text());
  });
}

/**
 * Takes the browser's network away, and says so to the page. On a machine that has no network itself the
 * browser knows itself offline from the start, sees no change, and fires no event of its own.
 */
export async function goOffline(page: Page): Promise<void> {
  const isNews = await page.evaluate('navigator.onLine');
  await page.context().setOffline(true);
  if (!isNews) await page.evaluate("void dispatchEvent(new Event('offline'))");
}

/** Reads the page anew, and waits until its stream of events is open: from there on it misses no change. */
export async function reloadLive(page: Page): Promise<void> {
  const opened = page.waitForResponse((response) => response.url().endsWith('/api/events'));
  await page.reload();
  await opened;
}

/** Expects that nothing went wrong in the page since it was opened, and closes it. */
export async function closeSound(page: Page): Promise<void> {
  expect(problems.get(page)).to.deep.equal([]);
  await page.context().close();
}
