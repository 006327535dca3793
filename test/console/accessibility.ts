// Every page in both themes, both languages and three widths: axe finds nothing, and nothing is too wide, on
// phones and tablets no table either, and on tablets no filter stands below the others.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { PERMISSIONS } from '../../domain/permissions.ts';
import { makeCode, setPermissions, setVerified } from '../support/administrators.ts';
import { until } from '../support/until.ts';
import { closeSound, type TestConsole } from '../support/console/browser.ts';
import { ended, order } from '../support/console/orders.ts';
import type { Actor } from '../support/http/http.ts';
import { makeWebhook } from '../support/webhooks.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** What a theme can change. */
const OF_COLOURS = { type: 'rule', values: ['color-contrast'] };
const OF_ALL = { type: 'tag', values: STANDARDS };
/** Waits until the page was painted: a new width is laid out once with the scroll bar of before. */
const DRAWN = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
/** What makes the page wider than the window, as the beginning of its HTML; nothing when it is not. */
const WIDER = `${DRAWN}.then(() => (({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth ? [] :
  [...document.body.querySelectorAll('*')]
    .filter((one) => one.getBoundingClientRect().right > clientWidth)
    .map(({ outerHTML }) => outerHTML.slice(0, 120)))(document.documentElement))`;
/** The tables that scroll sideways, by their names. */
const SCROLLING = `${DRAWN}.then(() => [...document.querySelectorAll('.table-scroll')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ ariaLabel, scrollWidth }) => ariaLabel + ' ' + scrollWidth))`;
/** The rows of filters that are higher than their first one, each as its texts. */
const WRAPPED = `${DRAWN}.then(() => [...document.querySelectorAll('.filters')]
    .filter((row) => row.clientHeight > row.firstElementChild.clientHeight)
    .map(({ innerText }) => innerText))`;
const PAGES = [
  '',
  'tasks',
  'create',
  'models',
  'calls',
  'usage',
  'credits',
  'keys',
  'webhooks',
  'account',
  'nothing-here',
];
const ADMIN_PAGES = [
  'admin/tasks',
  'admin/users',
  'admin/codes',
  'admin/usage',
  'admin/webhooks',
  'admin/vendors',
  'admin/audit',
];
const PHONE = 390;
const TABLET = 768;
const WIDTHS = [1400, TABLET, PHONE];
/**
 * In which themes each language is looked at, and by which rules. A language changes no colour and a theme no
 * word, so Chinese needs one theme; it has the dark one, where English is looked at for its colours alone.
 */
const LOOKS = {
  en: [
    { theme: 'light', rules: OF_ALL },
    { theme: 'dark', rules: OF_COLOURS },
  ],
  zh: [{ theme: 'dark', rules: OF_ALL }],
} as const;
const HEIGHT = 900;

interface Look {
  theme: 'light' | 'dark';
  rules: object;
}
/** Ends a test that hangs: it takes a minute, and some on a machine that is busy with other tests. */
const TIME_MS = 600_000;

export function testAccessibility(tested: () => TestConsole): void {
  describe('accessibility', function () {
    this.timeout(TIME_MS);
    for (const language of ['en', 'zh'] as const) {
      const themes = LOOKS[language].map(({ theme }) => theme).join(' and ');
      it(`has no violation at ${WIDTHS.join(', ')} pixels, ${language}, ${themes}`, async () => {
        const { gateway, open } = tested();
        const user = await gateway.createUser();
        await setPermissions(gateway, user, PERMISSIONS);
        const id = await order(user, 'a lighthouse');
        await ended(user, id);
        const page = await open(user, '', { language });
        const hook = await makeTestedWebhook(user.session);
        const messages = [{ role: 'user', content: 'hello' }];
        await user.key.post('/v1/chat/completions', { model: 'gpt-6-luna', messages });
        await setVerified(gateway, user, true);
        await makeLimitedKey(user.session);
        await makeCode(user, { label: 'A label that is as long as labels of campaigns are in spring' });
        const shown = [
          ...[`tasks/${id}`, `webhooks/${hook}`, `admin/tasks/${id}`, `admin/users/${user.id}`],
          `admin/webhooks/${hook}?userId=${user.id}`,
        ];
        for (const path of [...PAGES, ...ADMIN_PAGES, ...shown]) {
          await page.goto(`${gateway.baseUrl}/console/${path}`);
          await page.locator('h1, h2').first().waitFor();
          await until('everything is read', async () => (await page.locator('.bone').count()) === 0);
          await page.evaluate(AXE);
          await lookFromAllSides(page, path, LOOKS[language]);
        }
        await closeSound(page);
      });
    }
  });
}

/** A key with every limit there is: its row is the widest. */
async function makeLimitedKey(session: Actor): Promise<void> {
  const limits = { quota: 5_000, dailyBudget: 1_000, modelScope: ['gpt-image-2', 'veo-3.1'] };
  const key = { name: 'Nightly renders of the marketing department', expiresAt: '2100-12-31T00:00:00Z' };
  expect((await session.post('/api/keys', { ...key, ...limits })).status).to.equal(201);
}

/** An endpoint with a delivery, where nothing listens; answers its id. */
async function makeTestedWebhook(session: Actor): Promise<string> {
  const { id } = await makeWebhook(session, { url: 'http://127.0.0.1:9/hooks', description: 'Renders' });
  expect((await session.post(`/api/webhooks/${id}/test`)).status).to.equal(202);
  return id;
}

/** Theme and width change in the page as it stands: only a language needs the page anew. */
async function lookFromAllSides(page: Page, path: string, looks: readonly Look[]): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    expect(await page.evaluate<string[]>(WIDER), `${path} is wider than ${width}`).to.deep.equal([]);
    if (width <= TABLET)
      expect(await page.evaluate<string[]>(SCROLLING), `tables of ${path}, ${width}`).to.deep.equal([]);
    if (width === TABLET)
      expect(await page.evaluate<string[]>(WRAPPED), `filters of ${path}`).to.deep.equal([]);
    for (const { theme, rules } of looks) {
      await page.evaluate(showIn(theme));
      const violations = await findViolations(page, rules);
      expect(violations, `${path}, ${width} pixels, ${theme}`).to.deep.equal([]);
    }
  }
}

/** Violations of these rules, each with the first place where it is. */
function findViolations(page: Page, runOnly: object): Promise<string[]> {
  return page.evaluate<string[]>(`axe.run({ runOnly: ${JSON.stringify(runOnly)} }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes[0].html + ' ' + nodes[0].failureSummary))`);
}

/** Changes the theme, and waits until every colour has become what it is to be. */
function showIn(theme: string): string {
  return `(async () => {
    document.documentElement.dataset.theme = '${theme}';
    await ${DRAWN};
    const changes = document.getAnimations().filter((one) => one instanceof CSSTransition);
    await Promise.allSettled(changes.map(({ finished }) => finished));
    await ${DRAWN};
  })()`;
}
