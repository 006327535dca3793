// Every page in themes, languages and widths: axe finds nothing, and nothing is wider than the window.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { createAdministrator } from '../support/administrators.ts';
import { until } from '../support/until.ts';
import { closeSound, type PageOptions, type TestConsole } from '../support/console/browser.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RUN_AXE = `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes[0].html + ' ' + nodes[0].failureSummary))`;
const IS_WIDER = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
const PAGES = [
  '',
  'tasks',
  'create',
  'models',
  'calls',
  'usage',
  'credits',
  'keys',
  'account',
  'nothing-here',
];
const ADMIN_PAGES = ['admin/tasks', 'admin/users', 'admin/codes', 'admin/audit'];
const LOOKS: readonly Required<Pick<PageOptions, 'width' | 'theme' | 'language'>>[] = [
  { width: 1400, theme: 'light', language: 'en' },
  { width: 820, theme: 'dark', language: 'zh' },
  { width: 390, theme: 'dark', language: 'en' },
];

export function testAccessibility(tested: () => TestConsole): void {
  describe('accessibility', () => {
    for (const look of LOOKS)
      it(`has no violation at ${look.width} pixels, ${look.theme}, ${look.language}`, async () => {
        const { gateway, open } = tested();
        const user = await createAdministrator(gateway);
        await user.key.post('/v1/images/generations', { model: 'gpt-image-2', prompt: 'a lighthouse' });
        const page = await open(user, '', look);
        for (const path of [...PAGES, ...ADMIN_PAGES]) {
          await page.goto(`${gateway.baseUrl}/console/${path}`);
          await page.locator('h1, h2').first().waitFor();
          await until('everything is read', async () => (await page.locator('.bone').count()) === 0);
          expect(await findViolations(page), path).to.deep.equal([]);
          const isWider = await page.evaluate<boolean>(IS_WIDER);
          expect(isWider, `${path} is wider than the window`).to.equal(false);
        }
        await closeSound(page);
      });
  });
}

/** Violations of WCAG 2.2 AA, each with the first place where it is. */
async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate<string[]>(RUN_AXE);
}
