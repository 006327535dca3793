// Webhooks: which events there are, what receivers get of them, and how it is verified.
import { expect } from 'chai';
import OpenAI from 'openai';
import { Webhook } from 'standardwebhooks';
import { CHAT_MODEL } from '../support/chat.ts';
import { openClient } from '../support/http/openai-client.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { installPackage, runScript } from '../sandbox/sdk/python.ts';
import { orderImage, orderVideo } from '../support/tasks.ts';
import { untilFinal } from '../support/until.ts';
import { makeWebhook, readDeliveries, startReceiver, type Receiver } from '../support/webhooks.ts';

const ALL_EVENTS = ['task.completed', 'task.failed', 'task.cancelled'];

describe('a webhook', () => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await gateway.stop();
  });
  beforeEach(async () => {
    owner = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());

  let hooks = 0;
  /** A webhook at a path of its own, so that tests do not see each other's. */
  const makeHook = async (at = '/', fields: object = { events: ALL_EVENTS }) => {
    hooks += 1;
    const path = `${at}?${hooks}`;
    return { ...(await makeWebhook(owner.session, { url: receiver.url + path, ...fields })), path };
  };
  const test = (id: string) => owner.session.post(`/api/webhooks/${id}/test`);

  it('tells that a task was completed: the owner’s view, without the prompt', async () => {
    const hook = await makeHook();
    const { id, word } = await orderImage(owner.session);
    const [{ body, text, headers }] = await firstOf(hook.path);
    expect(body).to.have.keys('type', 'timestamp', 'data');
    expect(body.type).to.equal('task.completed');
    const { requestPayload, outputs, outputUrl, ...view } = (await owner.session.get(`/api/tasks/${id}`)).body
      .data;
    const { prompt: _prompt, ...payload } = requestPayload;
    expect(body.data).to.deep.include({ ...view, requestPayload: payload });
    expect(body.data['outputs']).to.have.length(outputs.length);
    expect(text).not.to.include(word);
    const sentUrl = String(body.data['outputUrl']);
    expect(new URL(sentUrl).pathname).to.equal(new URL(outputUrl).pathname);
    expect((await fetch(sentUrl)).status).to.equal(200);
    expect(headers).to.include({ 'content-type': 'application/json; charset=utf-8' });
  });

  it('tells that a task failed or was cancelled, as it was then', async () => {
    const hook = await makeHook();
    const { id } = await orderVideo(owner.session, 'seconds=0 outcome=fail*1');
    const [failed] = await firstOf(hook.path);
    expect(failed.body).to.deep.include({ type: 'task.failed' });
    await owner.session.post(`/api/tasks/${id}/retry`);
    await untilFinal(owner.session, id);
    const [, completed] = await receiver.until(hook.path, 2);
    expect(completed?.body).to.deep.include({ type: 'task.completed' });
    const [first] = (await readDeliveries(owner.session, hook.id)).toReversed();
    await owner.session.post(`/api/webhooks/${hook.id}/deliveries/${first?.id}/resend`);
    const again = (await receiver.until(hook.path, 3))[2];
    expect(again?.text, 'the row has changed since').to.equal(failed.text);
    expect(again?.id).to.equal(failed.id);

    const stuck = await orderVideo(owner.session, 'outcome=stuck');
    await owner.session.delete(`/api/tasks/${stuck.id}`);
    expect((await receiver.until(hook.path, 4))[3]?.body).to.deep.include({ type: 'task.cancelled' });
  });

  it('tells nothing that it did not ask for, and nothing of other users', async () => {
    const hook = await makeHook('/', { events: ['task.failed'] });
    const stranger = await gateway.createUser();
    await untilFinal(stranger.session, (await orderVideo(stranger.session, 'seconds=0 outcome=fail')).id);
    await untilFinal(owner.session, (await orderImage(owner.session)).id);
    await test(hook.id);
    const [first] = await firstOf(hook.path);
    expect(first.body.type).to.equal('webhook.test');
    expect(await readDeliveries(owner.session, hook.id)).to.have.length(1);
  });

  it('tells once per fall that the balance is low', async () => {
    const hook = await makeHook('/', { events: ['balance.low'], balanceBelow: 995 });
    for (let tasks = 0; tasks < 3; tasks += 1)
      await untilFinal(owner.session, (await orderImage(owner.session)).id); // 4 credits each
    const [low] = await firstOf(hook.path);
    expect(low.body.data).to.deep.equal({ balance: 992, reserved: 0, available: 992, balanceBelow: 995 });
    expect(await readDeliveries(owner.session, hook.id)).to.have.length(1);
  });

  it('tells that a chat call took the balance below', async () => {
    const hook = await makeHook('/', { events: ['balance.low'], balanceBelow: 1000 });
    const { client } = openClient(gateway, owner);
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    await client.chat.completions.create({ model: CHAT_MODEL, messages });
    expect((await firstOf(hook.path))[0].body.data.balance).to.be.below(1000);
  });

  it('is verified by OpenAI’s client, with the old secret as well after a rotation', async () => {
    const hook = await makeHook();
    const { body } = await owner.session.post(`/api/webhooks/${hook.id}/rotate-secret`);
    await test(hook.id);
    const [{ text, headers }] = await firstOf(hook.path);
    const { webhooks } = new OpenAI({ apiKey: 'unused' });
    for (const secret of [hook.secret, body.data.secret])
      expect(await webhooks.unwrap(text, headers, secret)).to.deep.include({ type: 'webhook.test' });
    const forged = webhooks.unwrap(`${text} `, headers, hook.secret);
    expect(await forged.then(() => 'accepted', String)).to.include('signature');
    await gateway.em().execute(`update webhook_endpoint set previous_secret_until = now()`);
    await test(hook.id);
    const [, later] = await receiver.until(hook.path, 2);
    if (!later) throw new Error('there is no second one');
    const old = webhooks.unwrap(later.text, later.headers, hook.secret);
    expect(await old.then(() => 'accepted', String)).to.include('signature');
  });

  it('is verified by the package of Standard Webhooks for Node', async () => {
    const hook = await makeHook();
    await test(hook.id);
    const [{ text, headers }] = await firstOf(hook.path);
    const verifier = new Webhook(hook.secret);
    expect(verifier.verify(text, headers)).to.deep.include({ type: 'webhook.test' });
    expect(() => verifier.verify(`${text} `, headers)).to.throw('No matching signature found');
  });

  it('is verified by the package of Standard Webhooks for Python', async function () {
    this.timeout(300_000);
    const installed = await installPackage('standardwebhooks==1.1.0');
    if (installed.kind === 'missing') return this.skip();
    const hook = await makeHook();
    await test(hook.id);
    const [{ text, headers }] = await firstOf(hook.path);
    const told = await runScript(
      installed.folder,
      'verify_webhook.py',
      hook.secret,
      text,
      JSON.stringify(headers),
    );
    expect(told).to.deep.equal({ type: 'webhook.test', forged: 'refused' });
  });

  async function firstOf(path: string) {
    const [first, ...rest] = await receiver.until(path, 1);
    if (!first) throw new Error('nothing arrived');
    return [first, ...rest] as const;
  }
});
