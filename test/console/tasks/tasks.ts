// Tasks: rows that move by themselves, filters in the address, cancel, retry, and texts that stay texts.
import { stat } from 'node:fs/promises';
import { expect } from 'chai';
import { closeSound, type TestConsole } from '../../support/console/browser.ts';
import { ended, order } from '../../support/console/orders.ts';
import { until } from '../../support/until.ts';

/** Keeps how many pictures the page has when it has its first row. */
const COUNT_PICTURES = `new MutationObserver(() => {
  if (document.querySelector('tbody .main-link'))
    globalThis.picturesAtFirst ??= document.querySelectorAll('.thumb img').length;
}).observe(document, { childList: true, subtree: true })`;

export function testTasks(tested: () => TestConsole): void {
  describe('tasks', () => {
    it('arrive and complete without a reload, with picture and charge', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(user, 'tasks');
      await page.getByText('No tasks yet').waitFor();
      await order(user, 'a lighthouse [[sandbox seconds=2]]');
      const newer = page.getByRole('button', { name: '1 newer task' });
      const row = page.getByRole('row', { name: /a lighthouse/ });
      // It is in the list at once where it came before the stream of events had begun.
      await Promise.any([newer.click(), row.waitFor()]);
      await row.getByText('Completed').waitFor({ timeout: 20_000 });
      await row.locator('img').waitFor();
      expect(await row.locator('td').nth(4).textContent()).to.equal('4');
      await closeSound(page);
    });

    it('are drawn first, and their pictures asked for after that', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      await ended(user, await order(user, 'a picture that can wait'));
      const page = await open(user, 'account');
      await page.addInitScript(COUNT_PICTURES);
      await page.goto(`${gateway.baseUrl}/console/tasks`);
      await page
        .getByRole('row', { name: /a picture that can wait/ })
        .locator('img')
        .waitFor();
      expect(await page.evaluate('picturesAtFirst')).to.equal(0);
      await closeSound(page);
    });

    it('can be filtered, and the address and the back button know it', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      await ended(user, await order(user, 'a good one'));
      await ended(user, await order(user, 'a bad one [[sandbox outcome=fail reason=internal]]'));
      const page = await open(user, 'tasks');
      await page.getByText('a good one').waitFor();
      await page.getByLabel('Status').selectOption('failed');
      await page.getByText('a good one').waitFor({ state: 'detached' });
      expect(new URL(page.url()).search).to.equal('?status=failed');
      await page.getByRole('link', { name: /a bad one/ }).click();
      await page.getByText('It failed, and cost nothing').waitFor();
      await page.goBack();
      await page.getByRole('link', { name: /a bad one/ }).waitFor();
      expect(new URL(page.url()).search).to.equal('?status=failed');
      expect(await page.getByText('a good one').count()).to.equal(0);
      await closeSound(page);
    });

    it('are cancelled when the row says so, and cost nothing', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const id = await order(user, 'a slow one [[sandbox seconds=120]]');
      const page = await open(user, `tasks/${id}`);
      await page.getByRole('button', { name: 'Cancel task' }).click();
      await page.getByText('Cancelled; it cost nothing').waitFor({ timeout: 20_000 });
      await ended(user, id);
      expect((await user.session.get(`/api/tasks/${id}`)).body.data.status).to.equal('cancelled');
      await closeSound(page);
    });

    it('are retried at the price of today, which is shown first', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const id = await order(user, 'a second try [[sandbox outcome=fail*1 reason=internal]]');
      await ended(user, id);
      const page = await open(user, `tasks/${id}`);
      await page.getByRole('button', { name: 'Retry' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Today', { exact: true }).waitFor();
      await dialog.getByRole('button', { name: 'Retry' }).click();
      await page.getByText('Completed').first().waitFor({ timeout: 20_000 });
      expect((await user.session.get(`/api/tasks/${id}`)).body.data.attempt).to.equal(2);
      await closeSound(page);
    });

    it('say that they begin later when they have waited for long', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const id = await order(user, 'in a long line [[sandbox seconds=120]]');
      const { data } = (await user.session.get(`/api/tasks/${id}`)).body;
      const page = await open(user, 'account');
      const shownAs = async (createdAt: Date): Promise<void> => {
        await page.unrouteAll();
        const task = { ...data, status: 'queued', startedAt: null, createdAt: createdAt.toISOString() };
        await page.route(`**/api/tasks/${id}`, (route) => route.fulfill({ json: { data: task } }));
        await page.route('**/api/events', (route) => route.abort());
        await page.goto(`${gateway.baseUrl}/console/tasks/${id}`);
        await page.getByRole('heading', { name: 'Waits for its turn', exact: true }).waitFor();
      };
      const late = page.getByText('It waits longer than usual');
      await shownAs(new Date());
      expect(await late.count()).to.equal(0);
      await shownAs(new Date(Date.now() - 60_000));
      await late.waitFor();
      await user.session.delete(`/api/tasks/${id}`);
      await page.context().close();
    });

    it('several at once are downloaded by one press', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      for (const prompt of ['one to keep', 'another to keep']) await ended(user, await order(user, prompt));
      await ended(user, await order(user, 'nothing to keep [[sandbox outcome=fail reason=internal]]'));
      const page = await open(user, 'tasks');
      await page.getByLabel('Select all').check();
      const sizes: number[] = [];
      page.on('download', async (download) => sizes.push((await stat(await download.path())).size));
      await page.getByRole('button', { name: 'Download (2)' }).click();
      await until('both have arrived', async () => sizes.length === 2);
      expect(Math.min(...sizes)).to.be.above(0);
      await closeSound(page);
    });

    it('say while they run how long such tasks usually take', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const id = await order(user, 'as long as ever [[sandbox seconds=120]]');
      const page = await open(user, 'account');
      await page.route('**/api/models', async (route) => {
        const answer = await (await route.fetch()).json();
        for (const model of answer.data) model.usual_seconds = { p50: 40, p90: 60 };
        await route.fulfill({ json: answer });
      });
      await page.goto(`${gateway.baseUrl}/console/tasks`);
      await page
        .getByRole('row', { name: /as long as ever/ })
        .getByText('usually 40 s')
        .waitFor();
      await page.goto(`${gateway.baseUrl}/console/create`);
      await page.getByText('Usually done in 40 s.').waitFor();
      await user.session.delete(`/api/tasks/${id}`);
      await closeSound(page);
    });

    for (const width of [1400, 390])
      it(`several at once are cancelled by one press, at ${width} pixels`, async () => {
        const { gateway, open } = tested();
        const user = await gateway.createUser();
        const ids = [
          await order(user, 'one [[sandbox seconds=120]]'),
          await order(user, 'two [[sandbox seconds=120]]'),
        ];
        const page = await open(user, 'tasks', { width });
        await page.getByRole('row', { name: /one/ }).getByRole('checkbox').check();
        await page.getByRole('row', { name: /two/ }).getByRole('checkbox').check();
        await page.getByRole('button', { name: 'Cancel (2)' }).click();
        for (const id of ids) await ended(user, id);
        await until(
          'both rows say cancelled',
          async () => (await page.getByText('Cancelled', { exact: true }).count()) >= 2,
        );
        await closeSound(page);
      });

    it('show a prompt that looks like a page as the text it is', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const prompt = '<img src=x onerror="globalThis.broken=1"> <script>globalThis.broken=1</script>';
      const id = await order(user, prompt);
      const page = await open(user, `tasks/${id}`);
      await page.getByRole('heading', { name: prompt, exact: true }).waitFor();
      expect(await page.evaluate('globalThis.broken')).to.equal(undefined);
      await page.goto(`${gateway.baseUrl}/console/tasks`);
      await page.getByRole('link', { name: prompt }).waitFor();
      await closeSound(page);
    });

    it('stay on the page while the API does not answer, and the page says how old they are', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      await ended(user, await order(user, 'still here'));
      const page = await open(user, 'tasks');
      await page.getByText('still here').waitFor();
      await page.route('**/api/**', (route) => route.abort());
      await page.getByRole('link', { name: 'Credits', exact: true }).click();
      await page.getByText('No answer from the API.').waitFor();
      await page.getByRole('link', { name: 'Tasks', exact: true }).click();
      await page.getByText('still here').waitFor();
      await page.unroute('**/api/**');
      await page.getByText('No answer from the API.').waitFor({ state: 'detached', timeout: 20_000 });
      await page.context().close();
    });

    it('of another user are as missing as those that never were', async () => {
      const { gateway, open } = tested();
      const [user, other] = [await gateway.createUser(), await gateway.createUser()];
      const page = await open(user, `tasks/${await order(other, 'a secret')}`);
      await page.getByRole('heading', { name: 'There is no such task', exact: true }).waitFor();
      await closeSound(page);
    });

    it('can be reached by keyboard: j, Enter, and g t back', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      await ended(user, await order(user, 'by keyboard'));
      const page = await open(user, 'tasks');
      await page.getByText('by keyboard').waitFor();
      await page.evaluate('document.activeElement.blur()');
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'by keyboard', exact: true }).waitFor();
      await page.keyboard.press('g');
      await page.keyboard.press('t');
      await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search' }).fill('credits');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Credits', exact: true }).waitFor();
      await closeSound(page);
    });
  });
}
