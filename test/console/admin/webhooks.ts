// Administration of webhooks: those of all users, whether each works, and what became of its deliveries.
import { expect } from 'chai';
import { createAdministrator } from '../../support/administrators.ts';
import { closeSound, type TestConsole } from '../../support/console/browser.ts';
import { makeWebhook, startReceiver, untilDelivery, type Receiver } from '../../support/webhooks.ts';

export function testWebhookAdministration(tested: () => TestConsole): void {
  describe('administration of webhooks', () => {
    let receiver: Receiver;
    before(async () => {
      receiver = await startReceiver((res, { path }) => {
        res.writeHead(path.startsWith('/gone') ? 410 : 200).end('a word of the owner');
      });
    });
    after(() => receiver.close());

    it('finds the endpoints of a user, and those that are disabled', async () => {
      const { gateway, open } = tested();
      const owner = await gateway.createUser();
      const gone = await makeWebhook(owner.session, { url: `${receiver.url}/gone` });
      await makeWebhook(owner.session, { url: `${receiver.url}/works` });
      await owner.session.post(`/api/webhooks/${gone.id}/test`);
      await untilDelivery(owner.session, gone.id, 'failed');
      const page = await open(await createAdministrator(gateway, ['tasks.read']), 'admin/webhooks');
      await page.getByLabel('Id of a user').fill(owner.id);
      await page.waitForURL(`**?userId=${owner.id}`);
      const rows = page.locator('tbody tr:not([aria-hidden])');
      await rows.nth(1).waitFor();
      await page.getByLabel('State').selectOption('disabled');
      await page.waitForURL('**status=disabled');
      await page.getByRole('row', { name: /Disabled/ }).waitFor();
      await rows.nth(1).waitFor({ state: 'detached' });
      await rows.first().getByRole('link', { name: receiver.url }).click();
      await page.getByText('It answered 410 (gone), so nothing more is sent to it.').waitFor();
      await closeSound(page);
    });

    it('shows one with its deliveries, without what is its owner’s', async () => {
      const { gateway, open } = tested();
      const owner = await gateway.createUser();
      const { id } = await makeWebhook(owner.session, {
        url: `${receiver.url}/secret-path`,
        description: 'of the shop',
      });
      await owner.session.post(`/api/webhooks/${id}/test`);
      await untilDelivery(owner.session, id, 'delivered');
      const administrator = await createAdministrator(gateway, ['tasks.read']);
      const page = await open(administrator, `admin/webhooks/${id}?userId=${owner.id}`);
      await page.getByRole('heading', { name: receiver.url, exact: true }).waitFor();
      await page.getByRole('row', { name: /webhook\.test Delivered 200/ }).waitFor();
      await page.getByRole('button', { name: 'webhook.test', exact: true }).click();
      await page.waitForURL('**delivery=dlv_*');
      await page.getByText('Masked: it belongs to its owner.').waitFor();
      expect(await page.content()).not.to.match(/secret-path|of the shop|a word of the owner/);
      expect(await page.getByRole('button', { name: /Send again/ }).count()).to.equal(0);
      await closeSound(page);
    });

    it('says that there is no such endpoint', async () => {
      const { gateway, open } = tested();
      const administrator = await createAdministrator(gateway, ['tasks.read']);
      const page = await open(administrator, 'admin/webhooks/whk_00000000000000000000000000');
      await page.getByRole('heading', { name: 'There is no such endpoint', exact: true }).waitFor();
      await closeSound(page);
    });

    it('is in the menu of those alone who may read tasks', async () => {
      const { gateway, open } = tested();
      const page = await open(await createAdministrator(gateway, ['users.read']), '');
      await page.getByRole('link', { name: 'Users' }).waitFor();
      expect(await page.getByRole('link', { name: 'All webhooks' }).count()).to.equal(0);
      await closeSound(page);
    });
  });
}
