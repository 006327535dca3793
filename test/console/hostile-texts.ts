// Texts of users that look like a page stay texts, wherever they are shown.
import { expect } from 'chai';
import { createAdministrator } from '../support/administrators.ts';
import { closeSound, type TestConsole } from '../support/console/browser.ts';
import { ended, order } from '../support/console/orders.ts';
import { until } from '../support/until.ts';

const TEXT = '<img src=x onerror="globalThis.broken=1"><b>bold</b>';
const PAGES = ['', 'tasks', 'keys', 'credits', 'usage?group=key', 'admin/codes', 'admin/audit'];

export function testHostileTexts(tested: () => TestConsole): void {
  it('shows a prompt, a name, a label and a note that look like a page as the text they are', async () => {
    const { gateway, open } = tested();
    const user = await createAdministrator(gateway);
    const { session } = user;
    const answers = [
      await session.post('/api/keys', { name: TEXT }),
      await session.post('/api/admin/redeem-codes', { label: TEXT, credits: 1 }),
      await session.post(`/api/admin/users/${user.id}/grants`, { credits: 50, note: TEXT }),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 201, 201]);
    const id = await order(user, `${TEXT} [[sandbox outcome=fail text=leaky]]`);
    await ended(user, id);
    const page = await open(user, `tasks/${id}`);
    for (const path of [`tasks/${id}`, `create?like=${id}`, `admin/users/${user.id}`, ...PAGES]) {
      await page.goto(`${gateway.baseUrl}/console/${path}`);
      await page.locator('h1, h2').first().waitFor();
      await until('everything is read', async () => (await page.locator('.bone').count()) === 0);
      const made = await page.locator('img[src="x"], b').count();
      expect([made, await page.evaluate('globalThis.broken')], path).to.deep.equal([0, undefined]);
    }
    await page.goto(`${gateway.baseUrl}/console/tasks`);
    await page.getByRole('link', { name: TEXT }).waitFor();
    await page.goto(`${gateway.baseUrl}/console/admin/codes`);
    await page.getByRole('button', { name: TEXT, exact: true }).waitFor();
    await closeSound(page);
  });
}
