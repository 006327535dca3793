// Create: the price while typing, more than there is before sending, one task for two clicks.
import { expect } from 'chai';
import { closeSound, type TestConsole } from '../../support/console/browser.ts';

export function testCreate(tested: () => TestConsole): void {
  describe('create', () => {
    it('shows the price as the order changes, and makes one task for two clicks', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser(100);
      const page = await open(user, 'create?model=gpt-image-2');
      await page.getByText('1K image × 1').waitFor();
      await page.getByRole('radio', { name: '2K' }).check();
      await page.getByText('2K image × 1').waitFor();
      await page.getByLabel('Prompt').fill('one of a kind');
      await page.getByRole('button', { name: 'Create', exact: true }).dblclick();
      await page.getByRole('heading', { name: 'one of a kind' }).waitFor();
      const { data } = (await user.session.get('/api/tasks')).body;
      expect(data.map((task: { creditsEstimate: number }) => task.creditsEstimate)).to.deep.equal([10]);
      await closeSound(page);
    });

    it('says before sending that an order is more than there is', async () => {
      const { gateway, open } = tested();
      const page = await open(await gateway.createUser(3), 'create?model=gpt-image-2');
      await page.getByLabel('Prompt').fill('too dear');
      await page.getByText('More than you have').waitFor();
      expect(await page.getByRole('button', { name: 'Create', exact: true }).isDisabled()).to.equal(true);
      await closeSound(page);
    });

    it('offers only what goes together: 8 seconds alone in 1080p', async () => {
      const { gateway, open } = tested();
      const page = await open(await gateway.createUser(), 'create?model=veo-3.1-fast');
      await page.getByRole('radio', { name: '1080p' }).check();
      await page.getByText(/1080p video/).waitFor();
      const durations = page.getByRole('group', { name: 'Duration' }).getByRole('radio');
      expect(await durations.count()).to.equal(1);
      await closeSound(page);
    });
  });
}
