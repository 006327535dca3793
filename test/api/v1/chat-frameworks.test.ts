// POST /v1/chat/completions behind the frameworks that callers use: Vercel's AI SDK and LangChain.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { APICallError, generateObject, generateText, streamText, tool } from 'ai';
import { expect } from 'chai';
import { z } from 'zod';
import { CHAT_MODEL, lastCall, say } from '../../support/chat.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { uniqueWord } from '../../support/tasks.ts';

const CITY = z.object({ city: z.string() });
const promptWith = (directive: string): string => say(directive, uniqueWord())[0]?.content ?? '';

describe('chat behind frameworks', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());
  after(() => gateway.stop());

  describe('Vercel’s AI SDK', () => {
    const model = () =>
      createOpenAICompatible({
        name: 'gateway',
        baseURL: `${gateway.baseUrl}/v1`,
        apiKey: owner.apiKey,
        includeUsage: true,
        supportsStructuredOutputs: true,
      })(CHAT_MODEL);

    it('generateText: the text and its usage', async () => {
      const { text, usage, finishReason } = await generateText({
        model: model(),
        prompt: promptWith('tokens=3'),
      });
      expect([text, usage.outputTokens, finishReason]).to.deep.equal(['the quick brown', 3, 'stop']);
    });

    it('streamText: the text as it comes, and its usage', async () => {
      const { textStream, usage } = streamText({ model: model(), prompt: promptWith('tokens=20') });
      let text = '';
      for await (const piece of textStream) text += piece;
      expect(text.split(' ')).to.have.length(20);
      expect((await usage).outputTokens).to.equal(20);
      expect(await lastCall(owner)).to.include({ status: 'completed', completionTokens: 20 });
    });

    it('generateObject: what its schema says', async () => {
      const { object } = await generateObject({ model: model(), schema: CITY, prompt: promptWith('') });
      expect(CITY.safeParse(object).success).to.equal(true);
    });

    it('tools: called with arguments of the right shape', async () => {
      const asked: string[] = [];
      const weather = tool({
        inputSchema: CITY,
        execute: ({ city }) => {
          asked.push(city);
          return 'sun';
        },
      });
      const params = { model: model(), tools: { weather }, toolChoice: 'required' as const };
      const { toolResults } = await generateText({ ...params, prompt: promptWith('') });
      expect(toolResults.map(({ output }) => output)).to.deep.equal(['sun']);
      const streamed = streamText({ ...params, prompt: promptWith('') });
      expect((await streamed.toolResults).map(({ output }) => output)).to.deep.equal(['sun']);
      expect(asked).to.have.length(2);
    });

    it('an upstream that is busy is asked again; a refusal is an APICallError with our words', async () => {
      const again = await generateText({ model: model(), prompt: promptWith('submit=429*1'), maxRetries: 1 });
      expect(again.text).not.to.equal('');
      const error = await generateText({
        model: model(),
        prompt: promptWith('submit=400'),
        maxRetries: 2,
      }).catch((thrown: unknown) => thrown);
      expect(APICallError.isInstance(error)).to.equal(true);
      expect(error).to.include({ statusCode: 400, isRetryable: false });
      expect(String(error)).to.match(/The provider refused this request/);
    });
  });

  describe('LangChain', () => {
    const model = () =>
      new ChatOpenAI({
        model: CHAT_MODEL,
        apiKey: owner.apiKey,
        configuration: { baseURL: `${gateway.baseUrl}/v1` },
        maxRetries: 0,
      });

    it('invoke: the text and its usage', async () => {
      const answer = await model().invoke(promptWith('tokens=3'));
      expect(answer.text).to.equal('the quick brown');
      expect(answer.usage_metadata).to.include({ output_tokens: 3 });
    });

    it('stream: the text as it comes', async () => {
      let text = '';
      for await (const chunk of await model().stream(promptWith('tokens=20'))) text += chunk.text;
      expect(text.split(' ')).to.have.length(20);
    });

    it('bindTools and withStructuredOutput: arguments of the right shape', async () => {
      const weather = langchainTool(() => 'sun', { name: 'weather', description: 'Tells it.', schema: CITY });
      const { tool_calls: calls } = await model()
        .bindTools([weather], { tool_choice: 'weather' })
        .invoke(promptWith(''));
      expect(calls?.map(({ name }) => name)).to.deep.equal(['weather']);
      expect(CITY.safeParse(calls?.[0]?.args).success).to.equal(true);
      const parsed = await model()
        .withStructuredOutput(CITY, { method: 'jsonSchema' })
        .invoke(promptWith(''));
      expect(CITY.safeParse(parsed).success).to.equal(true);
    });

    it('a refusal is an error with our code', async () => {
      const error = await model()
        .invoke(promptWith('submit=400'))
        .catch((thrown: unknown) => thrown);
      expect(error).to.include({ status: 400, code: 'upstream_rejected' });
    });
  });
});
