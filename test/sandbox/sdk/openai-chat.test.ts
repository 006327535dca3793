// OpenAI's own client finds in the sandbox's chat what it expects of OpenAI.

import { expect } from 'chai';
import OpenAI from 'openai';
import type { ChatCompletionTool } from 'openai/resources/chat/completions';
import { eventually, newPrompt, readJournal, useSandbox } from '../support.ts';

describe("sandbox: OpenAI's own client in a chat", () => {
  const sandbox = useSandbox();

  function client(options: { apiKey?: string; maxRetries?: number; path?: string } = {}): OpenAI {
    const { apiKey = 'sk-test', maxRetries = 0, path = '/openai/v1' } = options;
    return new OpenAI({ baseURL: sandbox().url + path, apiKey, maxRetries });
  }

  const ordered = (
    directives = '',
  ): { model: string; messages: OpenAI.Chat.Completions.ChatCompletionMessageParam[] } => ({
    model: 'gpt-6-sol',
    messages: [{ role: 'user', content: newPrompt(directives).prompt }],
  });

  for (const path of ['/openai/v1', '/xai/v1'])
    it(`has a whole conversation at ${path}`, async () => {
      const {
        data,
        response,
        request_id: requestId,
      } = await client({ path }).chat.completions.create(ordered('tokens=3')).withResponse();
      expect(data.choices[0]?.message.content).to.equal('the quick brown');
      expect(data.choices[0]?.finish_reason).to.equal('stop');
      expect(data.usage?.total_tokens).to.equal(10);
      expect(requestId).to.be.a('string').and.to.equal(response.headers.get('x-request-id'));
    });

  it('puts a stream together again', async () => {
    const stream = client().chat.completions.stream({
      ...ordered('tokens=40 delay=0'),
      stream_options: { include_usage: true },
    });
    let heard = '';
    stream.on('content', (delta) => {
      heard += delta;
    });
    const completion = await stream.finalChatCompletion();
    expect(completion.choices[0]?.message.content).to.equal(heard);
    expect(heard.split(' ')).to.have.length(40);
    expect(completion.usage?.completion_tokens).to.equal(40);
  });

  it('runs a tool with arguments of the right shape', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const tools: ChatCompletionTool[] = [{ type: 'function', function: { name: 'weather', parameters } }];
    const request = { ...ordered(), tools, tool_choice: 'required' as const };
    const whole = await client().chat.completions.create(request);
    const streamed = await client().chat.completions.stream(request).finalChatCompletion();
    for (const { choices } of [whole, streamed]) {
      const [call] = choices[0]?.message.tool_calls ?? [];
      if (call?.type !== 'function') throw new Error('A function was to be called.');
      expect(call.function.name).to.equal('weather');
      expect(JSON.parse(call.function.arguments)).to.eql({ city: 'fox' });
      const answer = await client().chat.completions.create({
        ...ordered(),
        tools,
        messages: [
          ...request.messages,
          { role: 'assistant', tool_calls: [call] },
          { role: 'tool', tool_call_id: call.id, content: 'Snow' },
        ],
      });
      expect(answer.choices[0]?.finish_reason).to.equal('stop');
    }
  });

  it('parses structured output', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, legs: { type: 'integer', minimum: 4 } },
      required: ['name', 'legs'],
      additionalProperties: false,
    };
    const completion = await client().chat.completions.parse({
      ...ordered(),
      response_format: { type: 'json_schema', json_schema: { name: 'animal', strict: true, schema } },
    });
    expect(completion.choices[0]?.message.parsed).to.eql({ name: 'fox', legs: 4 });
  });

  it('shows images', async () => {
    const { usage } = await client().chat.completions.create({
      model: 'gpt-6-astra',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'https://example.com/fox.png' } },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          ],
        },
      ],
    });
    expect(usage?.prompt_tokens).to.equal(173);
  });

  it('lists and shows models', async () => {
    const ids: string[] = [];
    for await (const { id } of client().models.list()) ids.push(id);
    expect(ids).to.include('gpt-6.1-terra');
    expect(await client().models.retrieve('gpt-6.1-terra')).to.include({ object: 'model' });
  });

  it('throws its own error classes', async () => {
    const failure = async (directives: string, apiKey = 'sk-test', model = 'gpt-6-sol'): Promise<unknown> =>
      client({ apiKey })
        .chat.completions.create({ ...ordered(directives), model })
        .catch((error: unknown) => error);
    expect(await failure('', 'sk-invalid')).to.be.instanceOf(OpenAI.AuthenticationError);
    expect(await failure('', 'sk-test', 'gpt-retired')).to.be.instanceOf(OpenAI.NotFoundError);
    expect(await failure('submit=400')).to.be.instanceOf(OpenAI.BadRequestError);
    expect(await failure('submit=403')).to.be.instanceOf(OpenAI.PermissionDeniedError);
    expect(await failure('submit=429')).to.be.instanceOf(OpenAI.RateLimitError);
    expect(await failure('submit=500')).to.be.instanceOf(OpenAI.InternalServerError);
    expect(await failure('submit=reset')).to.be.instanceOf(OpenAI.APIConnectionError);
    expect(await failure('outcome=fail reason=quota'))
      .to.be.instanceOf(OpenAI.RateLimitError)
      .with.property('code', 'insufficient_quota');
    expect(await failure('colour=red'))
      .to.be.instanceOf(OpenAI.BadRequestError)
      .with.property('param', 'messages');
  });

  it('throws in the middle of a stream where an error comes, and where the connection breaks', async () => {
    for (const directives of ['error_after=2', 'die_after=2']) {
      const stream = await client().chat.completions.create({ ...ordered(directives), stream: true });
      let tokens = 0;
      const reading = (async () => {
        for await (const chunk of stream) if (chunk.choices[0]?.delta.content) tokens += 1;
      })();
      const error = await reading.catch((failure: unknown) => failure);
      expect(error).to.be.instanceOf(Error);
      expect(tokens).to.equal(2);
    }
  });

  it('tries again after a 429 as it is asked to', async () => {
    const completion = await client({ maxRetries: 1 }).chat.completions.create(ordered('submit=429*1'));
    expect(completion.choices).to.have.length(1);
  });

  it('leaves the journal a note when it aborts a stream', async () => {
    const { prompt, marker } = newPrompt('tokens=1000 delay=50');
    const stream = await client().chat.completions.create({
      model: 'gpt-6-luna',
      messages: [{ role: 'user', content: prompt }],
      stream: true,
    });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    stream.controller.abort();
    await eventually(async () => (await readJournal(sandbox(), marker))[0]?.clientClosedAt ?? undefined);
    expect((await readJournal(sandbox(), marker))[0]).to.include({ operation: 'chat', vendor: 'openai' });
  });
});
