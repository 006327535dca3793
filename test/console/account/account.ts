// Account: second factor with recovery codes, theme and language that are there before the first script.
import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import { closeSound, type TestConsole } from '../../support/console/browser.ts';

/** Pixels that a line of small text is lower than, and two lines are not. */
const ONE_LINE = 30;

export function testAccount(tested: () => TestConsole): void {
  describe('account', () => {
    it('sets up a second factor: proof, picture, code, recovery codes', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(user, 'account');
      await page.getByRole('button', { name: 'Set up' }).click();
      const proof = page.getByRole('dialog', { name: 'Is it you?' });
      await proof.getByLabel('Password').fill(user.password);
      await proof.getByRole('button', { name: 'Verify' }).click();
      const dialog = page.getByRole('dialog', { name: 'Second factor' });
      await dialog.getByRole('img').waitFor();
      const secret = (await dialog.locator('.copy .cut').textContent()) ?? '';
      await dialog.getByLabel('The code').fill(new TOTP({ secret: Secret.fromBase32(secret) }).generate());
      await dialog.getByRole('button', { name: 'Turn on' }).click();
      const codes = page.getByRole('dialog', { name: 'Recovery codes' }).getByRole('listitem');
      await codes.nth(9).waitFor();
      await page.setViewportSize({ width: 390, height: 844 });
      for (const code of await codes.all())
        expect((await code.boundingBox())?.height, 'a code stands in one line').to.be.below(ONE_LINE);
      await page.getByRole('button', { name: 'I have kept them' }).click();
      await page.getByText('It is on.').waitFor();
      await closeSound(page);
    });

    it('lists the sessions, and ends the others', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(user, 'account');
      await page.getByText('This one').waitFor();
      await page.getByRole('button', { name: 'End all others' }).click();
      await page.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' });
      expect((await user.session.get('/api/auth/me')).status).to.equal(401);
      await closeSound(page);
    });

    it('is under "More" on a phone, which is marked then', async () => {
      const { gateway, open } = tested();
      const page = await open(await gateway.createUser(), 'account');
      await page.setViewportSize({ width: 390, height: 844 });
      const more = page.getByRole('button', { name: 'More' });
      expect(await more.getAttribute('aria-current')).to.equal('true');
      await page.getByRole('navigation').getByRole('link', { name: 'Tasks' }).click();
      await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor();
      expect(await more.getAttribute('aria-current')).to.equal('false');
      await closeSound(page);
    });

    it('keeps theme and language, which the page has before any script runs', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(user, 'account');
      await page.getByRole('radio', { name: 'Dark' }).check();
      await page.getByRole('radio', { name: '中文' }).check();
      await page.getByRole('heading', { name: '账户', exact: true }).waitFor();
      const cookies = await page.context().cookies();
      const header = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
      const sent = await (await fetch(`${gateway.baseUrl}/console/`, { headers: { cookie: header } })).text();
      expect(sent).to.include('<html lang="zh" data-theme="dark"');
      await closeSound(page);
    });
  });
}
