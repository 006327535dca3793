// POST /v1/chat/completions with OpenAI's own clients: what they ask for, and what they get.
import { expect } from 'chai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { CHAT_MODEL as model, lastCall, say } from '../../support/chat.ts';
import { openClient } from '../../support/http/openai-client.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { readJournal } from '../../support/servers/sandbox.ts';
import { uniqueWord } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';
import { installPackage, runScript } from '../../sandbox/sdk/python.ts';

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

  const clientOf = (user: TestUser, options?: { maxRetries?: number; apiKey?: string }) =>
    openClient(gateway, user, options);

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
  });
});
