// Logging in, and what happens when a session ends under the user's hands.
import { expect } from 'chai';
import type { Route } from 'playwright-core';
import { closeSound, type TestConsole } from '../../support/console/browser.ts';

/** Fills in the password and sends its form once it is drawn anew, before the browser has painted it. */
const typeAndSend = (password: string): string => `(async () => {
  const field = document.querySelector('input[type="password"]');
  field.value = ${JSON.stringify(password)};
  field.dispatchEvent(new Event('input', { bubbles: true }));
  for (let turn = 0; turn < 10; turn++) await null;
  field.form.requestSubmit();
})()`;

export function testLogin(tested: () => TestConsole): void {
  describe('log in', () => {
    it('leads to the page that was asked for', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(null, 'credits');
      await page.getByLabel('E-mail address').fill(user.email);
      await page.getByLabel('Password').fill('not the password');
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByText('is wrong').waitFor();
      await page.getByLabel('Password').fill(user.password);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('heading', { name: 'Statement', exact: true }).waitFor();
      expect(page.url()).to.equal(`${gateway.baseUrl}/console/credits`);
      await closeSound(page);
    });

    it('sends what the fields hold, though it is sent before the last letter is painted', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(null, 'keys');
      await page.getByLabel('E-mail address').fill(user.email);
      await page.getByLabel('Password').fill(user.password.slice(0, -1));
      const asked = page.waitForRequest('**/api/auth/login');
      await page.evaluate(typeAndSend(user.password));
      expect((await asked).postDataJSON()).to.deep.equal({ email: user.email, password: user.password });
      await page.getByText('Test key').first().waitFor();
      await closeSound(page);
    });

    it('asks nothing of the API before it, and is not there again for the back button after it', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await (await open(null, '')).context().newPage();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      await page.goto(`${gateway.baseUrl}/console/keys`);
      await page.getByLabel('E-mail address').fill(user.email);
      await page.getByLabel('Password').fill(user.password);
      expect(asked.filter((path) => path.startsWith('/api/'))).to.deep.equal([]);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByText('Test key').first().waitFor();
      await page.goto(`${gateway.baseUrl}/docs`);
      await page.goBack();
      await page.getByText('Test key').first().waitFor();
      await page.context().close();
    });

    it('stands in the place of the page when the session ends, and the page is there again after it', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(user, 'keys');
      await page.getByText('Test key').first().waitFor();
      // Between the click and what the next page reads: before the click, something that the page reads by
      // itself could bring the login.
      const endSession = async (route: Route): Promise<void> => {
        await gateway.em().execute(`delete from session where user_id = '${user.id}'`);
        await route.continue();
      };
      await page.route('**/api/usage?*', endSession, { times: 1 });
      await page.getByRole('link', { name: 'Calls', exact: true }).click();
      await page.getByLabel('E-mail address').fill(user.email);
      await page.getByLabel('Password').fill(user.password);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('heading', { name: 'Calls', exact: true }).waitFor();
      expect(page.url()).to.equal(`${gateway.baseUrl}/console/calls`);
      await closeSound(page);
    });

    it('says that the API is away when it cannot tell who is there, and goes on by itself', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(user, 'keys');
      await page.route('**/api/auth/me', (route) => route.abort());
      await page.reload();
      await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor();
      await page.unroute('**/api/auth/me');
      await page.getByText('Test key').first().waitFor();
      await page.context().close();
    });

    it('ends with Log out, for this browser and on the server', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(user, '');
      await page.getByRole('button', { name: 'Log out' }).first().click();
      await page.getByRole('heading', { name: 'Log in', exact: true }).waitFor();
      await page.reload();
      await page.getByRole('heading', { name: 'Log in', exact: true }).waitFor();
      await closeSound(page);
    });
  });
}
