// Administration: pages appear with their permission, codes are made many at once, credits are granted once.
import { expect } from 'chai';
import { createAdministrator, readAudit } from '../../support/administrators.ts';
import { closeSound, type TestConsole } from '../../support/console/browser.ts';
import { ended, order } from '../../support/console/orders.ts';
import { proveIdentity } from '../../support/console/proof.ts';
import { until } from '../../support/until.ts';

export function testAdministration(tested: () => TestConsole): void {
  describe('administration', () => {
    it('is not in the menu of those who may not', async () => {
      const { gateway, open } = tested();
      const page = await open(await gateway.createUser(), '');
      expect(await page.getByText('Administration').count()).to.equal(0);
      await closeSound(page);
    });

    it('makes several codes, each once, and offers them as a file', async () => {
      const { gateway, open } = tested();
      const administrator = await createAdministrator(gateway);
      const page = await open(administrator, 'admin/codes');
      await page.getByRole('button', { name: 'Make codes' }).first().click();
      const dialog = page.getByRole('dialog', { name: 'Make codes' });
      await dialog.getByLabel('Label').fill('Autumn');
      await dialog.getByLabel('Credits each').fill('5');
      await dialog.getByLabel('Expires').fill('2100-01-31T12:00');
      await dialog.getByLabel(/How many/).fill('7');
      await dialog.getByRole('button', { name: 'Make codes' }).click();
      const proof = page.getByRole('dialog', { name: 'Is it you?' });
      await proof.getByLabel('Password').fill(administrator.password);
      await proof.getByRole('button', { name: 'Verify' }).click();
      const made = page.getByRole('dialog', { name: '7 codes are made' });
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        made.getByRole('button', { name: 'Download CSV' }).click(),
      ]);
      expect(file.suggestedFilename()).to.equal('codes-Autumn.csv');
      await made.getByRole('button', { name: 'Close', exact: true }).last().click();
      const rows = page.getByRole('row', { name: /Autumn/ });
      await until('the codes are listed', async () => (await rows.count()) === 7);
      const { data: codes } = (await administrator.session.get('/api/admin/redeem-codes?label=Autumn')).body;
      for (const { expiresAt } of codes) expect(expiresAt).to.equal('2100-01-31T11:00:00.000Z');
      expect((await readAudit(gateway)).filter(({ actorId }) => actorId === administrator.id)).to.have.length(
        7,
      );
      await closeSound(page);
    });

    it('makes another code for one whose answer was lost, and disables that one', async () => {
      const { gateway, open } = tested();
      const administrator = await createAdministrator(gateway);
      const page = await open(administrator, 'admin/codes');
      let sent = 0;
      await page.route('**/api/admin/redeem-codes', async (route) => {
        sent += route.request().method() === 'POST' ? 1 : 0;
        if (sent !== 3 || route.request().method() !== 'POST') return route.continue();
        await route.fetch();
        return route.abort();
      });
      await page.getByRole('button', { name: 'Make codes' }).first().click();
      const dialog = page.getByRole('dialog', { name: 'Make codes' });
      await dialog.getByLabel('Label').fill('Lost');
      await dialog.getByLabel('Credits each').fill('5');
      await dialog.getByLabel(/How many/).fill('3');
      await dialog.getByRole('button', { name: 'Make codes' }).click();
      await proveIdentity(page, administrator.password);
      await page.getByRole('button', { name: 'Go on' }).click();
      const made = page.getByRole('dialog', { name: '3 codes are made' });
      const codes = (await made.locator('code').textContent())?.split('\n') ?? [];
      expect(codes.map((code) => code.slice(0, 4))).to.deep.equal(['SVC-', 'SVC-', 'SVC-']);
      const { data } = (await administrator.session.get('/api/admin/redeem-codes?label=Lost')).body;
      const states = data.map(({ status }: { status: string }) => status);
      expect(states.sort()).to.deep.equal(['active', 'active', 'active', 'disabled']);
      await page.context().close();
    });

    it('says what failed by code, and leads to the tasks behind a code', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const id = await order(user, 'counted by its code [[sandbox outcome=fail reason=internal]]');
      await ended(user, id);
      const page = await open(await createAdministrator(gateway), 'admin/usage');
      const row = page.getByRole('row', { name: /upstream_error/ });
      await row.getByText('The vendor could not do it.').waitFor();
      await row.getByRole('link', { name: 'upstream_error' }).click();
      await page.getByRole('heading', { name: 'All tasks', exact: true }).waitFor();
      expect(new URL(page.url()).searchParams.get('errorCode')).to.equal('upstream_error');
      await page.locator(`a[href$="${id}"]`).waitFor();
      await closeSound(page);
    });

    it('shows a code where a task failed, and none where its owner cancelled it', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const failed = await order(user, 'a failure [[sandbox outcome=fail reason=internal]]');
      const cancelled = await order(user, 'a change of mind [[sandbox seconds=120]]');
      await user.session.delete(`/api/tasks/${cancelled}`);
      await Promise.all([ended(user, failed), ended(user, cancelled)]);
      const page = await open(await createAdministrator(gateway), `admin/tasks?userId=${user.id}`);
      const rowOf = (id: string) => page.getByRole('row').filter({ has: page.locator(`a[href$="${id}"]`) });
      await rowOf(failed).getByText('upstream_error').waitFor();
      await rowOf(cancelled).getByText('Cancelled', { exact: true }).waitFor();
      expect(await rowOf(cancelled).getByText('task_cancelled').count()).to.equal(0);
      await page.locator(`a[href$="${cancelled}"]`).click();
      await page.getByRole('heading', { name: 'Timeline', exact: true }).waitFor();
      expect(await page.getByText('what the vendor said is masked').count()).to.equal(0);
      await closeSound(page);
    });

    it('adds credits to a user', async () => {
      const { gateway, open } = tested();
      const administrator = await createAdministrator(gateway);
      const user = await gateway.createUser(1);
      const page = await open(administrator, 'admin/users');
      await page.getByLabel('Find by e-mail address').fill(user.email);
      await page.getByRole('button', { name: `Add credits: ${user.email}` }).click();
      const dialog = page.getByRole('dialog', { name: /Add credits/ });
      await dialog.getByLabel('Credits').fill('12.5');
      await dialog.getByLabel('Note').fill('a gift');
      await dialog.getByRole('button', { name: 'Add credits' }).dblclick();
      const proof = page.getByRole('dialog', { name: 'Is it you?' });
      await proof.getByLabel('Password').fill(administrator.password);
      await proof.getByRole('button', { name: 'Verify' }).click();
      await page.getByText('12.5 credits were added.').waitFor();
      expect((await user.session.get('/api/balance')).body.data.available).to.equal(13.5);
      await closeSound(page);
    });
  });
}
