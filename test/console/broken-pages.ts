// A page that cannot be drawn, or whose script does not come: a sentence takes its place, and all else works.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { TestConsole } from '../support/console/browser.ts';

const BROKEN = 'This page could not be shown';

export function testBrokenPages(tested: () => TestConsole): void {
  describe('a page that breaks', () => {
    it('says so in its place; navigation stays, and leads away from it and back', async () => {
      const { gateway, open } = tested();
      const page = await open(await gateway.createUser(), 'account');
      // A model without prices, which the API never sends, breaks the drawing of its card.
      const isBroken = { now: true };
      await page.route('**/api/models', (route) =>
        isBroken.now
          ? route.fulfill({
              json: { data: [{ id: 'half-a-model', kind: 'image', family: 'none', limits: {} }] },
            })
          : route.continue(),
      );
      await goTo(page, 'Models');
      await page.getByRole('heading', { name: BROKEN, exact: true }).waitFor();
      expect(new URL(page.url()).pathname).to.equal('/console/models');
      await goTo(page, 'Keys');
      await page.getByText('Test key').first().waitFor();
      expect(await page.getByText(BROKEN).count()).to.equal(0);
      await goTo(page, 'Models');
      await page.getByRole('heading', { name: BROKEN, exact: true }).waitFor();
      isBroken.now = false;
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('button', { name: 'gpt-image-2' }).first().waitFor();
      await page.context().close();
    });

    it('says so in Chinese', async () => {
      const { gateway, open } = tested();
      const page = await open(await gateway.createUser(), 'account', { language: 'zh' });
      await page.route('**/api/models', (route) =>
        route.fulfill({ json: { data: [{ id: 'half', kind: 'image' }] } }),
      );
      await goTo(page, '模型');
      await page.getByRole('heading', { name: '无法显示此页面', exact: true }).waitFor();
      await page.getByRole('button', { name: '重试' }).waitFor();
      await page.context().close();
    });

    it('is there at the next try when only its script had not come', async () => {
      const { gateway, open } = tested();
      const page = await open(await gateway.createUser(), 'account');
      await page.route('**/assets/keys-*.js', (route) => route.abort());
      await goTo(page, 'Keys');
      await page.getByRole('heading', { name: BROKEN, exact: true }).waitFor();
      await page.unroute('**/assets/keys-*.js');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('Test key').first().waitFor();
      await page.context().close();
    });
  });
}

async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation').first().getByRole('link', { name, exact: true }).click();
}
