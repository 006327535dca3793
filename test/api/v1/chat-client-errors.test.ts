// OpenAI's client for Node finds the errors it expects, and tries again when that helps.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import OpenAI from 'openai';
import { CHAT_MODEL as model, say } from '../../support/chat.ts';
import { failureOf, openClient } from '../../support/http/openai-client.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { readJournal } from '../../support/servers/sandbox.ts';
import { uniqueWord } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';

type Kind = { new (...parts: never[]): Error; name: string };

describe('OpenAI’s client for Node', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_UPSTREAM_TIMEOUT_SECONDS: '1' } });
    owner = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());
  after(() => gateway.stop());

  const clientOf = (user: TestUser, options?: { maxRetries?: number; apiKey?: string }) =>
    openClient(gateway, user, options);

  describe('gets its own errors', () => {
    const cases: [title: string, fields: object, directive: string, kind: Kind, status: number][] = [
      ['a field that is wrong', { max_tokens: 0 }, '', OpenAI.BadRequestError, 400],
      ['an upstream’s refusal', {}, 'submit=400', OpenAI.BadRequestError, 400],
      ['a model that is not there', { model: 'none' }, '', OpenAI.NotFoundError, 404],
      ['an upstream’s failure', {}, 'submit=500', OpenAI.InternalServerError, 502],
      ['an upstream’s limit', {}, 'submit=429', OpenAI.InternalServerError, 503],
      ['an upstream’s silence', {}, 'submit=hang', OpenAI.InternalServerError, 504],
    ];
    for (const [title, fields, directive, kind, status] of cases)
      it(`${kind.name} ${status} for ${title}`, async () => {
        const call = clientOf(owner).client.chat.completions.create({
          model,
          messages: say(directive),
          ...fields,
        });
        const error = await failureOf(call);
        expect(error).to.be.instanceOf(kind).and.to.include({ status });
        expect(error).to.have.property('code').that.is.a('string');
      });

    it('AuthenticationError 401 for a wrong key', async () => {
      const { client } = clientOf(owner, { apiKey: 'sk-svc_wrong' });
      const error = await failureOf(client.chat.completions.create({ model, messages: say() }));
      expect(error).to.be.instanceOf(OpenAI.AuthenticationError).and.to.include({ code: 'invalid_api_key' });
    });

    it('PermissionDeniedError 403 for a model outside of the key’s scope', async () => {
      const scoped = await gateway.createUser();
      await gateway
        .em()
        .execute(sql`update api_key set model_scope = '{gpt-6-sol}' where id = ${scoped.keyId}`);
      const error = await failureOf(
        clientOf(scoped).client.chat.completions.create({ model, messages: say() }),
      );
      expect(error)
        .to.be.instanceOf(OpenAI.PermissionDeniedError)
        .and.to.include({ code: 'model_not_allowed' });
    });

    it('APIError 402 without credits, and does not try again', async () => {
      const { client, requests } = clientOf(await gateway.createUser(0), { maxRetries: 2 });
      const error = await failureOf(client.chat.completions.create({ model, messages: say() }));
      expect(error)
        .to.be.instanceOf(OpenAI.APIError)
        .and.to.include({ status: 402, code: 'insufficient_credits' });
      expect(requests).to.have.length(1);
    });

    it('an error in the middle of a stream', async () => {
      const { client } = clientOf(owner);
      const params = { model, messages: say('error_after=4 tokens=20'), stream: true } as const;
      const read = async (): Promise<void> => {
        for await (const _chunk of await client.chat.completions.create(params));
      };
      const error = await failureOf(read());
      expect(error).to.be.instanceOf(OpenAI.APIError).and.to.include({ code: 'upstream_error' });
    });
  });

  describe('tries again', () => {
    it('after 503, and then has its answer', async () => {
      const { client, requests } = clientOf(owner, { maxRetries: 1 });
      const messages = say('submit=429*1', uniqueWord());
      const answer = await client.chat.completions.create({ model, messages });
      expect(answer.choices).to.have.length(1);
      expect(requests).to.have.length(2);
    });

    it('after 409 while the first request with its Idempotency-Key runs, and then has that one’s answer', async () => {
      const { client, requests } = clientOf(owner, { maxRetries: 3 });
      const params = { model, messages: say('seconds=0.8', uniqueWord()) };
      const options = { headers: { 'idempotency-key': uniqueWord() } };
      const first = client.chat.completions.create(params, options);
      await until(
        'the first is under way',
        async () => (await readJournal(gateway.sandboxUrl, params.messages[0]?.content ?? '')).length > 0,
      );
      const again = await client.chat.completions.create(params, options);
      expect(again.id).to.equal((await first).id);
      expect(requests.length).to.be.within(3, 5);
    });

    it('not after a 409 that is final', async () => {
      const order = { mode: 'image', model: 'gpt-image-2', prompt: 'a cat' };
      const { body } = await owner.session.post('/api/tasks', order);
      const token = await sessionCookie();
      let requests = 0;
      const client = new OpenAI({
        apiKey: 'none',
        baseURL: `${gateway.baseUrl}/api`,
        maxRetries: 2,
        defaultHeaders: { cookie: token },
        fetch: (url, init) => {
          requests += 1;
          return fetch(url, init);
        },
      });
      const error = await failureOf(client.post(`/tasks/${body.data.id}/retry`));
      expect(error).to.be.instanceOf(OpenAI.ConflictError).and.to.include({ code: 'task_not_retryable' });
      expect(requests).to.equal(1);
    });
  });

  async function sessionCookie(): Promise<string> {
    const login = await gateway.anonymous.post('/api/auth/login', {
      email: owner.email,
      password: owner.password,
    });
    return (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  }
});

describe('chat with OpenAI’s client for Node, beyond the limit of requests', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_LIMIT_CHAT: '1/2' } });
    owner = await gateway.createUser();
  });
  after(() => gateway.stop());

  it('is told so as a RateLimitError, and tries again in time', async () => {
    const options = { apiKey: owner.apiKey, baseURL: `${gateway.baseUrl}/v1` };
    const params = { model, messages: say() };
    const impatient = new OpenAI({ ...options, maxRetries: 0 });
    const patient = new OpenAI({ ...options, maxRetries: 3 });
    await patient.chat.completions.create(params);
    const error = await impatient.chat.completions.create(params).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(OpenAI.RateLimitError).and.to.include({ code: 'rate_limited' });
    expect((await patient.chat.completions.create(params)).choices).to.have.length(1);
  });
});
