// Models of one's own: every example of an overlay, against a service that is as particular as the example
// says.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { findFreePort } from '../../../dev/servers/ports.ts';
import { createCleanup } from '../../support/cleanup.ts';
import { eventsIn, openStream, readCalls } from '../../support/chat.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { untilFinal } from '../../support/until.ts';
import { sendJson, startStandIn, type Received, type StandIn } from '../../providers/stand-in.ts';

const EXAMPLES = 'examples/catalog';
const USAGE = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };
const CREATED = 1_790_000_000;
const CHAT = '/v1/chat/completions';

interface OwnUpstream {
  family: string;
  upstreamModel: string;
  baseUrl?: string;
  auth?: 'none' | { header: string };
  limitField?: string;
}
interface OwnModel {
  id: string;
  family: string;
  free?: boolean;
  price?: { meter: string; credits: number }[];
  upstreams: OwnUpstream[];
}

describe('models of one’s own', () => {
  const cleanup = createCleanup();
  const models: OwnModel[] = readdirSync(EXAMPLES).flatMap(
    (name) => JSON.parse(readFileSync(join(EXAMPLES, name), 'utf8')).models,
  );
  let service: StandIn;
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    service = await startStandIn((res, { body }) => {
      const { model, stream, messages } = JSON.parse(String(body));
      if (!stream)
        return sendJson(res, 200, { ...headOf(model), choices: [choice('message')], usage: USAGE });
      const word = messages[0].content;
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(': at work\n\n');
      for (const text of ['one ', 'two ', `"model":"${word}"`])
        res.write(`data: ${JSON.stringify({ ...headOf(model), choices: [choice('delta', text)] })}\n\n`);
      res.write(`data: ${JSON.stringify({ ...headOf(model), choices: [], usage: USAGE })}\n\n`);
      res.end('data: [DONE]\n\n');
    });
    cleanup.later(() => service.close());
    const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-own-'));
    cleanup.later(async () => rmSync(folder, { recursive: true, force: true }));
    const dead = `http://127.0.0.1:${await findFreePort()}/v1`;
    const own = models.map((model) => ({
      ...model,
      upstreams: model.upstreams.map((each) => {
        // The examples with a reserve are asked while their first service is dead.
        const isDead = model.upstreams.length > 1 && each === model.upstreams[0];
        return { ...each, baseUrl: isDead ? dead : `${service.url}/${each.family}/v1` };
      }),
    }));
    const slashed = { ...own.find(({ id }) => id === 'deepseek-chat'), id: 'a/b/c' };
    const file = join(folder, 'overlay.json');
    writeFileSync(file, JSON.stringify({ remove: ['gpt-6-sol'], models: [...own, slashed] }));
    const keys = models
      .flatMap(({ upstreams }) => upstreams)
      .map(({ family }) => [variable(family), `key-of-${family}`]);
    gateway = await startGateway({ env: { SVC_CATALOG_OVERLAY: file, ...Object.fromEntries(keys) } });
    cleanup.later(() => gateway.stop());
  });
  after(() => cleanup.run());
  beforeEach(async () => {
    owner = await gateway.createUser(1_000);
    service.received.length = 0;
  });
  afterEach(() => gateway.expectSoundMoney());

  for (const { id, family, free, price = [], upstreams } of models) {
    const served = upstreams.at(-1) ?? { family: '', upstreamModel: '' };
    const creditsOf = (meter: string) => price.find((line) => line.meter === meter)?.credits ?? 0;
    const cost = (11 * creditsOf('input_tokens') + 3 * creditsOf('output_tokens')) / 1_000_000;
    const body = (fields: object = {}) => ({
      model: id,
      messages: [{ role: 'user', content: 'Hi' }],
      ...fields,
    });

    describe(id, () => {
      it('answers whole under its own id, for exactly its price', async () => {
        const { status, body: answer } = await owner.key.post(CHAT, body());
        expect(status, JSON.stringify(answer)).to.equal(200);
        expect(answer).to.deep.include({ model: id, id: 'chatcmpl-own' });
        expect(answer.usage.credits_charged).to.be.closeTo(Math.ceil(cost * 1e6) / 1e6, 1e-9);
        expect(free === true).to.equal(cost === 0);
        expectSent(service.received.at(-1), served);
      });

      it('streams under its own id, for exactly its price', async () => {
        const text = await (await openStream(gateway.baseUrl, owner, { fields: body() })).text();
        const events = eventsIn(text);
        expect(events.at(-1)).to.equal('[DONE]');
        const chunks = events.slice(0, -1).map((event) => JSON.parse(event));
        for (const chunk of chunks)
          expect(chunk).to.deep.include({ model: id, id: 'chatcmpl-own', created: CREATED });
        expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).to.equal(
          'one two "model":"Hi"',
        );
        expect(chunks.at(-1).usage.credits_charged).to.be.closeTo(Math.ceil(cost * 1e6) / 1e6, 1e-9);
      });

      it('gets the caller’s limit under the name that its service knows', async () => {
        for (const name of ['max_tokens', 'max_completion_tokens']) {
          await owner.key.post(CHAT, body({ [name]: 77 }));
          const { max_tokens: older, max_completion_tokens: newer } = sentBody(service.received.at(-1));
          expect([older, newer]).to.deep.equal(served.limitField ? [77, undefined] : [undefined, 77]);
        }
      });

      it('does text tasks as it does chat', async () => {
        const order = { mode: 'text', model: id, prompt: 'Hi' };
        const { status, body: created } = await owner.session.post('/api/tasks', order);
        expect(status, JSON.stringify(created)).to.equal(202);
        const task = await untilFinal(owner.session, created.data.id);
        expect(task).to.include({ status: 'completed', outputText: 'one two three' });
        expect(task.creditsCharged).to.be.closeTo(Math.ceil(cost * 1e6) / 1e6, 1e-9);
        expectSent(service.received.at(-1), served);
      });

      it('is listed as its family’s', async () => {
        const { body: model } = await owner.key.get(`/v1/models/${id}`);
        expect(model).to.include({ id, owned_by: family });
      });
    });
  }

  it('are asked at the reserve when the first service is dead', async () => {
    for (const { id, upstreams } of models.filter((model) => model.upstreams.length > 1)) {
      await owner.key.post(CHAT, { model: id, messages: [{ role: 'user', content: 'Hi' }] });
      const [call] = (await readCalls(gateway, owner)).slice(-1);
      const families = call?.tried.map(({ family }) => family);
      expect(families, id).to.include(upstreams.at(-1)?.family);
    }
  });

  it('may have slashes in their ids, sent plain or encoded', async () => {
    for (const path of ['a/b/c', 'a%2Fb%2Fc', 'anthropic/claude-sonnet-4.5']) {
      const { status, body } = await owner.key.get(`/v1/models/${path}`);
      expect([status, body.id]).to.deep.equal([200, decodeURIComponent(path)]);
    }
    expect((await owner.key.get('/v1/models/a/b')).status).to.equal(404);
    expect((await owner.key.post('/v1/models/a/b/c', {})).status).to.equal(405);
  });

  it('leave out what the overlay removes', async () => {
    expect((await owner.key.get('/v1/models/gpt-6-sol')).status).to.equal(404);
  });

  it('get no limit of ours while the credits are many, and exactly theirs when they are few', async () => {
    const ask = (user: TestUser) =>
      user.key.post(CHAT, { model: 'deepseek-chat', messages: [{ role: 'user', content: 'Hi' }] });
    await ask(owner);
    expect(sentBody(service.received.at(-1))).not.to.have.any.keys('max_tokens', 'max_completion_tokens');
    const poor = await gateway.createUser('4.5');
    const { usage } = (await ask(poor)).body;
    const limit = Number(sentBody(service.received.at(-1))['max_tokens']);
    expect(limit).to.be.within(4_097, 8_191);
    expect(usage.credits_estimate).to.be.at.most(4.5 / 8);
    expect(usage.credits_estimate).to.be.at.least((limit * 84) / 1_000_000);
    const poorer = await gateway.createUser('0.36');
    expect((await ask(poorer)).status).to.equal(200);
    expect(sentBody(service.received.at(-1))['max_tokens']).to.equal(4_096);
  });

  it('as tasks get none either while the credits are many, and exactly theirs when they are few', async () => {
    const run = async (user: TestUser, fields: object = {}) => {
      const body = { mode: 'text', model: 'deepseek-chat', prompt: 'Hi', ...fields };
      const estimated = (await user.session.post('/api/estimates', body)).body.data.creditsEstimate;
      const created = await user.session.post('/api/tasks', body);
      expect(created.status, JSON.stringify(created.body)).to.equal(202);
      expect(created.body.data.creditsEstimate, 'what the estimate said').to.equal(estimated);
      const task = await untilFinal(user.session, created.body.data.id);
      expect(task.status).to.equal('completed');
      const sent = sentBody(service.received.at(-1));
      return { task, limit: Number(sent['max_tokens'] ?? 0), names: Object.keys(sent) };
    };
    const { names } = await run(await gateway.createUser(1_000));
    expect(names).not.to.include.members(['max_tokens']).and.not.to.include('max_completion_tokens');
    const { task, limit } = await run(await gateway.createUser('4.5'));
    expect(limit).to.be.within(4_097, 8_191);
    expect(task.creditsEstimate).to.be.within((limit * 84) / 1_000_000, 4.5 / 8);
    expect((await run(await gateway.createUser('0.36'))).limit).to.equal(4_096);
    expect((await run(await gateway.createUser(1_000), { max_tokens: 7 })).limit).to.equal(7);
  });

  function expectSent(received: Received | undefined, upstream: OwnUpstream): void {
    const { headers, path } = received ?? { headers: {}, path: '' };
    expect(path).to.equal(`/${upstream.family}/v1/chat/completions`);
    expect(sentBody(received)['model']).to.equal(upstream.upstreamModel);
    const key = `key-of-${upstream.family}`;
    const { auth = 'bearer' } = upstream as { auth?: unknown };
    if (auth === 'bearer') expect(headers.authorization).to.equal(`Bearer ${key}`);
    else expect(headers.authorization).to.equal(undefined);
  }
});

function sentBody(received: Received | undefined): Record<string, unknown> {
  return JSON.parse(String(received?.body ?? '{}'));
}

function headOf(model: string): object {
  return { id: 'chatcmpl-own', object: 'chat.completion', created: CREATED, model };
}

function choice(member: 'message' | 'delta', content = 'one two three'): object {
  return { index: 0, [member]: { role: 'assistant', content }, finish_reason: 'stop' };
}

function variable(family: string): string {
  return `${family.toUpperCase().replaceAll('-', '_')}_API_KEY`;
}
