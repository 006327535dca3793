// What moves by itself: in two tabs, over a stream that is lost and found, and not at all while it is paused.
import { expect } from 'chai';
import { closeSound, goOffline, reloadLive, type TestConsole } from '../../support/console/browser.ts';
import { ended, order } from '../../support/console/orders.ts';
import { startProxy } from '../../support/console/proxy.ts';
import type { TestUser } from '../../support/servers/gateway.ts';

export function testLiveTasks(tested: () => TestConsole): void {
  describe('tasks that move', () => {
    it('do so in two tabs at once: what one cancels, the other shows', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const id = await order(user, 'seen twice [[sandbox seconds=120]]');
      const one = await open(user, `tasks/${id}`);
      const other = await one.context().newPage();
      await other.goto(`${gateway.baseUrl}/console/tasks`);
      await other.getByRole('row', { name: /seen twice/ }).waitFor();
      await one.getByRole('button', { name: 'Cancel task' }).click();
      await one.getByText('Cancelled; it cost nothing').waitFor({ timeout: 20_000 });
      await other
        .getByRole('row', { name: /seen twice/ })
        .getByText('Cancelled')
        .waitFor();
      await closeSound(one);
    });

    it('are what they became while the connection was lost, once it is there again', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const proxy = await startProxy(gateway.baseUrl);
      try {
        const id = await order(user, 'while nobody looked [[sandbox seconds=120]]');
        const page = await open(user, 'tasks', { baseUrl: proxy.url });
        const row = page.getByRole('row', { name: /while nobody looked/ });
        await row.waitFor();
        proxy.cut();
        await cancel(user, id);
        expect(await row.getByText('Cancelled').count()).to.equal(0);
        proxy.mend();
        await row.getByText('Cancelled').waitFor({ timeout: 20_000 });
        await page.context().close();
      } finally {
        proxy.close();
      }
    });

    it('stay, and say how old they are, from the moment at which the browser is offline', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const id = await order(user, 'on a train [[sandbox seconds=120]]');
      const page = await open(user, 'tasks');
      const row = page.getByRole('row', { name: /on a train/ });
      await row.waitFor();
      const band = page.getByText('No answer from the API');
      await goOffline(page);
      await band.waitFor();
      expect(await row.count()).to.equal(1);
      await cancel(user, id);
      await page.context().setOffline(false);
      await row.getByText('Cancelled').waitFor();
      await band.waitFor({ state: 'hidden' });
      await page.context().close();
    });

    it('are not taken for current by an answer that was on its way when the browser went offline', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(user, 'keys');
      const held = Promise.withResolvers<void>();
      const asked = Promise.withResolvers<void>();
      await page.route('**/api/tasks?*', async (route) => {
        const response = await route.fetch();
        asked.resolve();
        await held.promise;
        await route.fulfill({ response });
      });
      await page.getByTitle('Tasks', { exact: true }).click();
      await asked.promise;
      await goOffline(page);
      const band = page.getByText('No answer from the API');
      await band.waitFor();
      held.resolve();
      await page.getByText('No tasks yet').waitFor();
      expect(await band.count()).to.equal(1);
      await page.unrouteAll();
      await page.context().setOffline(false);
      await band.waitFor({ state: 'hidden' });
      await page.context().close();
    });

    it('stay as they are while the list is paused', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const id = await order(user, 'held still [[sandbox seconds=120]]');
      const page = await open(user, 'tasks');
      await reloadLive(page);
      const row = page.getByRole('row', { name: /held still/ });
      await row.waitFor();
      await page.getByRole('button', { name: 'Pause' }).click();
      await cancel(user, id);
      // The toast tells that the change has arrived here, and the row has not moved.
      await page.getByRole('link', { name: /^Image: cancelled held still/ }).waitFor();
      expect(await row.getByText('Cancelled').count()).to.equal(0);
      await page.getByRole('button', { name: 'Go on' }).click();
      await row.getByText('Cancelled').waitFor();
      await closeSound(page);
    });

    it('say so when the vendor was faster than the cancel', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(user, 'tasks');
      const id = await order(user, 'too fast [[sandbox seconds=6]]');
      await page.route(`**/api/tasks/${id}`, async (route) => {
        if (route.request().method() === 'DELETE') await ended(user, id);
        await route.continue();
      });
      await page.goto(`${gateway.baseUrl}/console/tasks/${id}`);
      await page.getByRole('button', { name: 'Cancel task' }).click();
      await page.getByText('The vendor was faster').waitFor({ timeout: 20_000 });
      await page.getByText('Completed').first().waitFor();
      const { data } = (await user.session.get(`/api/tasks/${id}`)).body;
      expect([data.status, data.creditsCharged]).to.deep.equal(['completed', 4]);
      await closeSound(page);
    });
  });
}

/** Cancels the task elsewhere, and waits until it has ended. */
async function cancel(user: TestUser, id: string): Promise<void> {
  expect((await user.session.delete(`/api/tasks/${id}`)).status).to.be.oneOf([200, 202]);
  await ended(user, id);
}
