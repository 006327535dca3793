// Webhooks: added with a secret that is shown once, tried out, sent again, changed, disabled and deleted.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { closeSound, type TestConsole } from '../../support/console/browser.ts';
import {
  makeWebhook,
  readDeliveries,
  startReceiver,
  type Receiver,
  type Respond,
} from '../../support/webhooks.ts';

/** An answer that looks like a page. */
const HOSTILE = '<img src=x onerror="globalThis.broken=1"><b>bold</b>';

/** A phone, and the longest id that a caller may give a request. */
const PHONE = { width: 390, height: 844 };
const REQUEST_ID = 'r'.repeat(64);
const FAILURE = { message: 'Internal error.', type: 'server_error', param: null, code: 'internal_error' };

export function testWebhooks(tested: () => TestConsole): void {
  describe('webhooks', () => {
    let receiver: Receiver;
    let respond: Respond;
    before(async () => {
      receiver = await startReceiver((res, request) => respond(res, request));
    });
    after(() => receiver.close());
    beforeEach(() => {
      respond = (res) => void res.writeHead(204).end();
    });

    it('are added with a secret that is shown once and signs what is sent', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const page = await open(user, 'webhooks');
      await page.getByText('No endpoints yet').waitFor();
      await button(page, 'Add an endpoint').first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Address').fill(`${receiver.url}/new`);
      await dialog.getByLabel('The balance is low').check();
      await dialog.getByLabel('Low is below').fill('5');
      await dialog.getByRole('button', { name: 'Add an endpoint' }).click();
      const secret = (await page.getByRole('region', { name: 'Its secret' }).textContent()) ?? '';
      expect(secret).to.match(/^whsec_/);
      await button(page, 'I have copied it').click();
      await page.getByText('Nothing was sent yet').waitFor();
      expect(await page.content()).not.to.include(secret);
      const [made] = (await user.session.get('/api/webhooks')).body.data;
      expect(made).to.deep.include({
        url: `${receiver.url}/new`,
        events: ['task.completed', 'task.failed', 'balance.low'],
        balanceBelow: 5,
      });
      await button(page, 'Send a test').click();
      const [sent] = await receiver.until('/new', 1);
      expect(new Webhook(secret).verify(sent?.text ?? '', sent?.headers ?? {})).to.include({
        type: 'webhook.test',
      });
      await page.getByRole('row', { name: /webhook\.test Delivered 204/ }).waitFor();
      await closeSound(page);
    });

    it('are sent one test for two clicks, and send an event again under its id', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const { id } = await makeWebhook(user.session, { url: `${receiver.url}/twice` });
      const page = await open(user, `webhooks/${id}`);
      await button(page, 'Send a test').dblclick();
      await page.getByRole('row', { name: /Delivered/ }).waitFor();
      expect(await readDeliveries(user.session, id)).to.have.length(1);
      await button(page, 'Send again: webhook.test').click();
      await page
        .getByRole('row', { name: /Delivered/ })
        .nth(1)
        .waitFor();
      const ids = receiver.at('/twice').map((request) => request.id);
      expect([ids.length, new Set(ids).size]).to.deep.equal([2, 1]);
      await closeSound(page);
    });

    it('say why one gets nothing more, show its answer as text, and enable it again', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      respond = (res) => void res.writeHead(410).end(HOSTILE);
      const { id } = await makeWebhook(user.session, { url: `${receiver.url}/gone` });
      const page = await open(user, `webhooks/${id}`);
      await button(page, 'Send a test').click();
      await page.getByText('It answered 410 (gone), so nothing more is sent to it.').waitFor();
      await button(page, 'webhook.test').click();
      await page.waitForURL('**?delivery=dlv_*');
      const answer = page.getByRole('region', { name: 'What it answered' });
      expect(await answer.textContent()).to.equal(HOSTILE);
      expect(await page.evaluate('globalThis.broken')).to.equal(undefined);
      await page.keyboard.press('Escape');
      await page.goto(`${gateway.baseUrl}/console/webhooks`);
      const row = page.getByRole('row', { name: /Disabled/ });
      await row.getByText('It answered 410').waitFor();
      await row.getByRole('link').click();
      await button(page, 'Enable').click();
      await page.getByText('Enabled', { exact: true }).waitFor();
      expect((await user.session.get(`/api/webhooks/${id}`)).body.data).to.include({ disabledAt: null });
      await closeSound(page);
    });

    it('are changed, given a new secret, and deleted', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const { id, secret } = await makeWebhook(user.session, { url: `${receiver.url}/old` });
      const page = await open(user, `webhooks/${id}`);
      await button(page, 'Change').click();
      const form = page.getByRole('dialog', { name: 'Change' });
      await form.getByLabel('Address').fill('https://127.0.0.1/');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.getByText('This address cannot be used').first().waitFor();
      await form.getByLabel('Address').fill('https://hooks.example.com/fresh');
      await form.getByLabel('A task has failed').check();
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: 'https://hooks.example.com/fresh', exact: true }).waitFor();
      const changed = (await user.session.get(`/api/webhooks/${id}`)).body.data;
      expect(changed.events).to.deep.equal(['task.completed', 'task.failed']);
      await button(page, 'New secret').click();
      await page.getByRole('dialog').getByRole('button', { name: 'New secret' }).click();
      const text = await page.getByRole('region', { name: 'Its secret' }).textContent();
      expect(text)
        .to.match(/^whsec_/)
        .and.not.equal(secret);
      await button(page, 'I have copied it').click();
      await page.getByText('signs as well until').waitFor();
      await button(page, 'Delete').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No endpoints yet').waitFor();
      expect((await user.session.get(`/api/webhooks/${id}`)).status).to.equal(404);
      await closeSound(page);
    });

    it('that are changed in two tabs keep what the other tab changed', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const { id } = await makeWebhook(user.session, { url: `${receiver.url}/old` });
      const page = await open(user, `webhooks/${id}`);
      await button(page, 'Change').click();
      const form = page.getByRole('dialog', { name: 'Change' });
      await form.getByLabel('Description').fill('Of this tab');
      const url = `${receiver.url}/new`;
      expect((await user.session.patch(`/api/webhooks/${id}`, { url })).status).to.equal(200);
      await form.getByRole('button', { name: 'Save' }).click();
      await form.waitFor({ state: 'detached' });
      const changed = (await user.session.get(`/api/webhooks/${id}`)).body.data;
      expect(changed).to.include({ url, description: 'Of this tab' });
      await closeSound(page);
    });

    it('say on a phone why deliveries cannot be read, and not that there are none, however long an id is', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const url = `https://hooks.example.com/${'h'.repeat(300)}`;
      const { id } = await makeWebhook(user.session, { url, description: 'd'.repeat(200) });
      const page = await open(user, '');
      await page.setViewportSize(PHONE);
      await page.route('**/api/webhooks/*/deliveries?*', (route) =>
        route.fulfill({ status: 500, json: { error: { ...FAILURE, request_id: REQUEST_ID } } }),
      );
      await page.goto(`${gateway.baseUrl}/console/webhooks/${id}`);
      const named = page.getByRole('button', { name: REQUEST_ID });
      const { x = 0, width = 0 } = (await named.boundingBox()) ?? {};
      const notice = await page.getByRole('alert').boundingBox();
      expect(x + width).to.be.within(1, (notice?.x ?? 0) + (notice?.width ?? 0));
      const isWider = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
      expect(await page.evaluate(isWider)).to.equal(false);
      expect(await page.getByText('Nothing was sent yet').count()).to.equal(0);
      await page.context().close();
    });
  });
}

function button(page: Page, name: string) {
  return page.getByRole('button', { name, exact: true });
}
