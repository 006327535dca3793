// Home: what runs and what failed, however much was made since, and what is made while one looks.
import { closeSound, type TestConsole } from '../../support/console/browser.ts';
import { ended, order } from '../../support/console/orders.ts';

/** As many tasks as one reading of the list has. */
const PAGE_ROWS = 50;

export function testHome(tested: () => TestConsole): void {
  describe('home', () => {
    it('shows what runs and what failed, though more tasks were made since than one reading has', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      await ended(user, await order(user, 'a broken mill [[sandbox outcome=fail]]'));
      const slow = await order(user, 'a slow river [[sandbox seconds=300]]');
      const many = await Promise.all(Array.from({ length: PAGE_ROWS }, () => order(user, 'one of many')));
      for (const id of many) await ended(user, id);
      const page = await open(user, '');
      await page.getByRole('link', { name: /a broken mill/ }).waitFor();
      await page.getByRole('link', { name: /a slow river/ }).waitFor();
      await user.session.delete(`/api/tasks/${slow}`);
      await ended(user, slow);
      await closeSound(page);
    });

    it('shows a task that a program makes while it is open, in the place of the first steps', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(user, '');
      await page.getByRole('heading', { name: 'Three steps to the first result' }).waitFor();
      const id = await order(user, 'a first lighthouse');
      await page
        .getByRole('link', { name: /a first lighthouse/ })
        .first()
        .waitFor();
      await ended(user, id);
      await closeSound(page);
    });
  });
}
