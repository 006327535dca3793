// POST /v1/responses behind Vercel's AI SDK, at upstreams that speak Responses and at others.
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, generateObject, generateText, stepCountIs, streamText, tool } from 'ai';
import { expect } from 'chai';
import { z } from 'zod';
import { CHAT_MODEL, lastCall } from '../../support/chat.ts';
import { createCleanup } from '../../support/cleanup.ts';
import { catalogWithTranslatedModel, inputOf, TRANSLATED_MODEL } from '../../support/responses.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

const CITY = z.object({ city: z.string() });
/** Without it the SDK refers to earlier answers by their ids, and the gateway keeps none. */
const STATELESS = { openai: { store: false } };

describe('Responses behind Vercel’s AI SDK', () => {
  const cleanup = createCleanup();
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: catalogWithTranslatedModel(cleanup) });
    cleanup.later(() => gateway.stop());
    owner = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());
  after(() => cleanup.run());

  for (const [how, id] of [
    ['passed on', CHAT_MODEL],
    ['translated to chat completions', TRANSLATED_MODEL],
  ] as const)
    describe(how, () => {
      const call = () => {
        const provider = createOpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: owner.apiKey });
        return { model: provider.responses(id), providerOptions: STATELESS };
      };

      it('generateText: the text and its usage', async () => {
        const { text, usage, finishReason } = await generateText({ ...call(), prompt: inputOf('tokens=3') });
        expect([text, usage.outputTokens, finishReason]).to.deep.equal(['the quick brown', 3, 'stop']);
        expect(await lastCall(owner)).to.include({ status: 'completed', completionTokens: 3 });
      });

      it('streamText: the text as it comes, and its usage', async () => {
        const { textStream, usage } = streamText({ ...call(), prompt: inputOf('tokens=20') });
        let text = '';
        for await (const piece of textStream) text += piece;
        expect(text.split(' ')).to.have.length(20);
        expect((await usage).outputTokens).to.equal(20);
      });

      it('generateObject: what its schema says', async () => {
        const { object } = await generateObject({ ...call(), schema: CITY, prompt: inputOf() });
        expect(CITY.safeParse(object).success).to.equal(true);
      });

      it('tools: called with arguments of the right shape, their results sent back', async () => {
        const weather = tool({ inputSchema: CITY, execute: () => 'sun' });
        const { steps } = await generateText({
          ...call(),
          tools: { weather },
          toolChoice: 'required',
          stopWhen: stepCountIs(2),
          prompt: inputOf(),
        });
        expect(steps).to.have.length(2);
        expect(steps[0]?.toolResults.map(({ output }) => output)).to.deep.equal(['sun']);
      });

      it('a refusal is an APICallError with our words', async () => {
        const refused = generateText({ ...call(), prompt: inputOf('submit=400'), maxRetries: 2 });
        const error = await refused.catch((thrown: unknown) => thrown);
        expect(APICallError.isInstance(error)).to.equal(true);
        expect(error).to.include({ statusCode: 400, isRetryable: false });
        expect(String(error)).to.match(/The provider refused this request/);
      });
    });
});
