// Keys: shown once, limited, revoked.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { closeSound, type TestConsole } from '../../support/console/browser.ts';
import { until } from '../../support/until.ts';

export function testKeys(tested: () => TestConsole): void {
  describe('keys', () => {
    it('are shown once when they are made, work, and are worth nothing once they are revoked', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(user, 'keys');
      await page.getByRole('button', { name: 'Make a key' }).first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Robot');
      await dialog.getByLabel('Quota').fill('50');
      await dialog.getByRole('button', { name: 'Make a key' }).click();
      await verifyIfAsked(page, user.password);
      const text = await page.getByRole('region', { name: 'Your new key' }).textContent();
      expect(text).to.match(/^sk-svc_\w{49}$/);
      await page.setViewportSize({ width: 390, height: 844 });
      for (const shown of await page.getByRole('dialog').locator('.code').all()) {
        const words = await shown.locator('code').boundingBox();
        const button = await shown.getByRole('button', { name: 'Copy' }).boundingBox();
        expect(words?.y, 'the button covers nothing').to.be.at.least(
          (button?.y ?? 0) + (button?.height ?? 0),
        );
      }
      const authorization = `Bearer ${text}`;
      expect((await fetch(`${gateway.baseUrl}/v1/models`, { headers: { authorization } })).status).to.equal(
        200,
      );
      await page.getByRole('button', { name: 'I have copied it' }).click();
      const row = page.getByRole('row', { name: /Robot/ });
      await row.getByText('0 of 50').waitFor();
      expect(await page.content()).not.to.include(text ?? '');
      await row.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await row.waitFor({ state: 'detached' });
      expect((await fetch(`${gateway.baseUrl}/v1/models`, { headers: { authorization } })).status).to.equal(
        401,
      );
      await closeSound(page);
    });

    it('that are changed in two tabs keep what the other tab changed', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(user, 'keys');
      await page.getByRole('button', { name: 'Change: Test key' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Name').fill('Renamed');
      const path = `/api/keys/${user.keyId}`;
      await user.verify();
      const limits = { quota: 7, expiresAt: '2099-01-01T10:00:30.500Z' };
      expect((await user.session.patch(path, limits)).status).to.equal(200);
      await form.getByRole('button', { name: 'Save' }).click();
      await form.waitFor({ state: 'detached' });
      const [key] = (await user.session.get('/api/keys')).body.data;
      expect(key).to.include({ ...limits, name: 'Renamed' });
      await closeSound(page);
    });
  });
}

/** Answers the question for a fresh proof of identity, where the action asks for one. */
async function verifyIfAsked(page: Page, password: string): Promise<void> {
  const asked = page.getByRole('dialog', { name: 'Is it you?' });
  const made = page.getByRole('dialog', { name: 'Your new key' });
  await until(
    'the key is made or a proof is asked for',
    async () => (await asked.count()) + (await made.count()) > 0,
  );
  if ((await asked.count()) === 0) return;
  await asked.getByLabel('Password').fill(password);
  await asked.getByRole('button', { name: 'Verify' }).click();
}
