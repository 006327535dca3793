// Administration of one user and one task: all that belongs to them on one page, masked.
import { expect } from 'chai';
import { createAdministrator } from '../../support/administrators.ts';
import { closeSound, type TestConsole } from '../../support/console/browser.ts';
import { ended, order } from '../../support/console/orders.ts';
import { until } from '../../support/until.ts';
import { proveIdentity } from '../../support/console/proof.ts';

/** Longer than a filter waits for the next letter. */
const TYPING_PAUSE_MS = 1_000;

export function testUserAdministration(tested: () => TestConsole): void {
  describe('administration of a user', () => {
    it('shows keys, sessions, tasks, spending and statement, and leads to a task without its content', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser(50);
      const id = await order(user, 'canary of the owner [[sandbox text=leaky]]');
      await ended(user, id);
      const own = (await user.session.get(`/api/tasks/${id}`)).body.data;
      const page = await open(await createAdministrator(gateway), 'admin/users');
      await page.getByLabel('Find by e-mail address').fill(user.email.slice(0, -6));
      await page.getByRole('link', { name: user.email }).click();
      await page.getByRole('heading', { name: user.email, exact: true }).waitFor();
      await page.getByText('Test key').waitFor();
      await page.getByText('Test credits').waitFor();
      await page.getByRole('definition').getByText('46', { exact: true }).first().waitFor();
      await page.getByRole('link', { name: 'gpt-image-2' }).first().click();
      await page.getByText('Handing over').waitFor();
      await page.getByText('−4').waitFor();
      const shown = await page.content();
      for (const secret of ['canary', own.upstreamTaskId ?? 'canary', own.outputUrl])
        expect(shown).not.to.include(secret);
      await page.goBack();
      await page.getByRole('heading', { name: user.email, exact: true }).waitFor();
      await closeSound(page);
    });

    it('disables the user, enables it, and lets a frozen account spend again, after a fresh proof', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser(5);
      await gateway.em().execute(`update account set frozen_at = now() where user_id = '${user.id}'`);
      const chief = await createAdministrator(gateway);
      const page = await open(chief, `admin/users/${user.id}`);
      await page.getByRole('button', { name: 'Unfreeze' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Unfreeze' }).click();
      await proveIdentity(page, chief.password);
      await page.getByText('This account is frozen').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Disable' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
      await page.getByText('Disabled', { exact: true }).waitFor();
      expect((await user.key.get('/v1/balance')).status).to.equal(403);
      await page.getByRole('button', { name: 'Enable' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click();
      await page.getByText('Disabled', { exact: true }).waitFor({ state: 'detached' });
      expect((await user.key.get('/v1/balance')).status).to.equal(200);
      await closeSound(page);
    });

    it('undoes nothing that another administrator changed while its form was open', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const [one, other] = [await createAdministrator(gateway), await createAdministrator(gateway)];
      const page = await open(one, `admin/users/${user.id}`);
      await page.getByRole('button', { name: 'Change', exact: true }).click();
      const form = page.getByRole('dialog', { name: user.email });
      await form.getByLabel('tasks.read').check();
      const path = `/api/admin/users/${user.id}`;
      expect((await other.session.patch(path, { disabled: true })).status).to.equal(200);
      await form.getByRole('button', { name: 'Save' }).click();
      await proveIdentity(page, one.password);
      await form.waitFor({ state: 'detached' });
      const { data } = (await other.session.get(path)).body;
      expect(data).to.deep.include({ disabled: true, permissions: ['tasks.read'] });
      await closeSound(page);
    });

    it('leads to the user that is clicked, though what was typed just before has not taken effect', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(await createAdministrator(gateway), 'admin/users');
      const slow = Promise.withResolvers<void>();
      await page.route('**/assets/user-*.js', async (route) => {
        await slow.promise;
        await route.continue();
      });
      const link = page.getByRole('link', { name: user.email });
      await link.waitFor();
      await page.clock.install();
      await page.getByLabel('Find by e-mail address').fill(user.email.slice(0, -6));
      const asked = page.waitForRequest('**/assets/user-*.js');
      await link.click();
      await asked;
      await page.clock.runFor(TYPING_PAUSE_MS);
      slow.resolve();
      await page.getByRole('heading', { name: user.email, exact: true }).waitFor();
      expect(page.url()).to.equal(`${gateway.baseUrl}/console/admin/users/${user.id}`);
      await closeSound(page);
    });

    it('finds what was done by action and by what it was done to, and the address knows it', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const chief = await createAdministrator(gateway);
      await chief.session.patch(`/api/admin/users/${user.id}`, { disabled: true });
      const page = await open(chief, 'admin/audit');
      await page.getByLabel('Action').selectOption('UPDATE_USER');
      await page.getByLabel('Id of what it was done to').fill(user.id);
      const { search } = new URL(page.url());
      expect(search).to.include('action=UPDATE_USER');
      await page.waitForURL(`**/admin/audit?*target=${user.id}*`);
      await until('one row is left', async () => (await page.locator('tbody tr').count()) === 1);
      await page.locator('tbody').getByText('Update user').waitFor();
      await page.getByText('disabled: true').waitFor();
      await closeSound(page);
    });
  });
}
