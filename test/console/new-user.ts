// The first minutes of a new user, in clicks: log in, make a picture, see its cost, make a key, call with it.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Locator } from 'playwright-core';
import { closeSound, type TestConsole } from '../support/console/browser.ts';
import { untilFinal } from '../support/until.ts';

const LIMIT_MS = 120_000;
const CLICKS_MAX = 8;
const run = promisify(execFile);

export function testNewUser(tested: () => TestConsole): void {
  it('leads a new user from the login to a picture, its cost, a key and a first call', async () => {
    const { gateway, open } = tested();
    const user = await gateway.createUser(100);
    const beganAt = Date.now();
    let clicks = 0;
    const click = async (target: Locator): Promise<void> => {
      clicks += 1;
      await target.click();
    };
    const page = await open(null, '');
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await page.getByLabel('E-mail address').fill(user.email);
    await page.getByLabel('Password').fill(user.password);
    await click(button('Log in'));
    await click(page.getByRole('main').getByRole('link', { name: 'Create', exact: true }).first());
    await page.getByLabel('Prompt').fill('a lighthouse at dusk');
    await page.getByText('1K image × 1').waitFor();
    await click(button('Create'));
    await page.getByRole('main').locator('.result img').waitFor({ timeout: 20_000 });
    await page.locator('.sum', { hasText: 'Charged' }).getByText('4', { exact: true }).waitFor();
    await click(page.getByRole('link', { name: 'Keys', exact: true }));
    await click(button('Make a key').first());
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('My program');
    await click(dialog.getByRole('button', { name: 'Make a key' }));
    const proof = page.getByRole('dialog', { name: 'Is it you?' });
    const command = page.getByRole('region', { name: 'Ready to use' });
    await proof.or(command).first().waitFor();
    if ((await proof.count()) > 0) {
      await proof.getByLabel('Password').fill(user.password);
      await click(proof.getByRole('button', { name: 'Verify' }));
    }
    const { stdout } = await run('sh', ['-c', (await command.textContent()) ?? '']);
    const { id, status } = JSON.parse(stdout);
    expect(status).to.equal('queued');
    expect(await untilFinal(user.session, id)).to.include({ status: 'completed', creditsCharged: 4 });
    expect(Date.now() - beganAt).to.be.at.most(LIMIT_MS);
    expect(clicks).to.be.at.most(CLICKS_MAX);
    await closeSound(page);
  });
}
