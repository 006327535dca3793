// POST /v1/chat/completions with OpenAI's own clients, which find what they expect of OpenAI.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { CHAT_MODEL as model, lastCall, say } from '../../support/chat.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { readJournal } from '../../support/servers/sandbox.ts';
import { uniqueWord } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';
import { installPackage, runScript } from '../../sandbox/sdk/python.ts';

type Kind = { new (...parts: never[]): Error; name: string };

const CITY = z.object({ city: z.string(), days: z.number() });
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const TOOL = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
} as const;

describe('chat with OpenAI’s client for Node', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_UPSTREAM_TIMEOUT_SECONDS: '1' } });
    owner = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());
  after(() => gateway.stop());

  function clientOf(user: TestUser, options: { maxRetries?: number; apiKey?: string } = {}) {
    const requests: unknown[] = [];
    const client = new OpenAI({
      apiKey: user.apiKey,
      baseURL: `${gateway.baseUrl}/v1`,
      maxRetries: 0,
      fetch: (url, init) => {
        requests.push(url);
        return fetch(url, init);
      },
      ...options,
    });
    return { client, requests };
  }

  const failureOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => 'no error',
      (error: unknown) => error,
    );

  it('answers whole, with the request’s id', async () => {
    const { client } = clientOf(owner);
    const answer = await client.chat.completions.create({ model, messages: say('tokens=3') });
    expect(answer.choices[0]?.message.content).to.equal('the quick brown');
    expect(answer.usage).to.include({ completion_tokens: 3 });
    expect(answer._request_id).to.equal((await lastCall(owner)).requestId);
  });

  it('streams, and its helper puts the answer together with its usage', async () => {
    const stream = clientOf(owner).client.chat.completions.stream({
      model,
      messages: say('tokens=40 delay=0'),
    });
    let heard = '';
    stream.on('content', (delta) => void (heard += delta));
    const whole = await stream.finalChatCompletion();
    expect(whole.choices[0]?.message.content).to.equal(heard);
    expect(heard.split(' ')).to.have.length(40);
    expect(whole.usage).to.include({ completion_tokens: 40 });
  });

  it('calls tools, whole and streamed', async () => {
    const { client } = clientOf(owner);
    const params = { model, messages: say(), tools: [TOOL], tool_choice: 'required' as const };
    const whole = await client.chat.completions.create(params);
    const streamed = await client.chat.completions.stream(params).finalChatCompletion();
    for (const { choices } of [whole, streamed]) {
      const [call] = choices[0]?.message.tool_calls ?? [];
      if (call?.type !== 'function') throw new Error('a function was to be called');
      expect(call.function.name).to.equal('weather');
      expect(JSON.parse(call.function.arguments)).to.have.all.keys('city');
      expect(choices[0]?.finish_reason).to.equal('tool_calls');
    }
    const next = [
      ...say(),
      { role: 'assistant' as const, content: null, tool_calls: whole.choices[0]?.message.tool_calls ?? [] },
      {
        role: 'tool' as const,
        tool_call_id: whole.choices[0]?.message.tool_calls?.[0]?.id ?? '',
        content: 'sun',
      },
    ];
    const answer = await client.chat.completions.create({ model, messages: next, tools: [TOOL] });
    expect(answer.choices[0]?.message.content).to.be.a('string').that.is.not.empty;
  });

  it('parses structured output', async () => {
    const answer = await clientOf(owner).client.chat.completions.parse({
      model,
      messages: say(),
      response_format: zodResponseFormat(CITY, 'city'),
    });
    expect(CITY.safeParse(answer.choices[0]?.message.parsed).success).to.equal(true);
  });

  it('sends pictures in messages', async () => {
    const content = [
      { type: 'text' as const, text: 'What is this?' },
      { type: 'image_url' as const, image_url: { url: PIXEL, detail: 'low' as const } },
    ];
    const messages = [{ role: 'user' as const, content }];
    const answer = await clientOf(owner).client.chat.completions.create({ model, messages });
    expect(answer.usage?.prompt_tokens_details).to.include({ image_tokens: 85 });
  });

  it('lists and finds models', async () => {
    const { client } = clientOf(owner);
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).to.include(model);
    expect(await client.models.retrieve(model)).to.include({ id: model, object: 'model' });
  });

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
    }).timeout(10_000);

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
    }).timeout(10_000);

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

  it('leaves a stream, and the call is over', async () => {
    const word = uniqueWord();
    const params = { model, messages: say('tokens=1000 delay=20', word), stream: true } as const;
    const stream = await clientOf(owner).client.chat.completions.create(params);
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    stream.controller.abort();
    await until('the call is recorded', async () => (await lastCall(owner)).status === 'cancelled');
    const [entry] = await readJournal(gateway.sandboxUrl, word);
    expect(entry?.clientClosedAt).to.be.a('string');
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
  }).timeout(15_000);
});

describe('chat with OpenAI’s client for Python', () => {
  const requirement = 'openai==3.52.0';
  let gateway: TestGateway;
  let owner: TestUser;
  let folder = '';

  before(`installs ${requirement}`, async function () {
    this.timeout(300_000);
    const installed = await installPackage(requirement);
    if (installed.kind === 'missing') {
      process.stdout.write(`      not tried: ${installed.why}\n`);
      this.skip();
    }
    folder = installed.folder;
    gateway = await startGateway({ worker: false, env: { SVC_UPSTREAM_TIMEOUT_SECONDS: '1' } });
    owner = await gateway.createUser();
  });
  after(async () => {
    await gateway?.expectSoundMoney();
    await gateway?.stop();
  });

  it('answers, streams, calls tools, parses, and maps errors', async () => {
    const words = [`${gateway.baseUrl}/v1`, owner.apiKey, uniqueWord()];
    expect(await runScript(folder, 'openai_chat.py', ...words)).to.deep.equal({
      whole: ['the quick brown', 3, true],
      streamed: ['the quick brown fox', 4],
      tool: ['weather', ['city']],
      parsed: true,
      models: true,
      errors: {
        bad_request: ['BadRequestError', 400, 'invalid_value'],
        authentication: ['AuthenticationError', 401, 'invalid_api_key'],
        not_found: ['NotFoundError', 404, 'model_not_found'],
        upstream: ['InternalServerError', 502, 'upstream_error'],
        silent: ['InternalServerError', 504, 'upstream_timeout'],
        in_stream: ['APIError', null, 'upstream_error'],
      },
      retried: 1,
    });
  }).timeout(70_000);
});
