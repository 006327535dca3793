// What a response costs is what the same chat call costs, to the micro-credit, wherever its stream breaks.
import { expect } from 'chai';
import fc from 'fast-check';
import { CHAT_MODEL, isSettled, readCalls, say } from '../../support/chat.ts';
import { createCleanup } from '../../support/cleanup.ts';
import { catalogWithTranslatedModel, inputOf, RESPONSES, TRANSLATED_MODEL } from '../../support/responses.ts';
import { startGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';

const CHAT = '/v1/chat/completions';
const RUNS = 25;
const TOOL = { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } };

interface Plan {
  directive: string;
  isStreamed: boolean;
  instructions: string | null;
  isCall: boolean;
  tokensMax: number | null;
}

const number = (max: number) => fc.integer({ min: 0, max });
const PLANS: fc.Arbitrary<Plan> = fc.record({
  directive: fc
    .tuple(
      fc.integer({ min: 1, max: 40 }),
      fc.oneof(
        fc.constant(''),
        number(45).map((after) => `die_after=${after}`),
        number(45).map((after) => `error_after=${after}`),
        fc.constantFrom('submit=truncated', 'submit=500', 'outcome=fail', 'outcome=moderated', 'submit=429'),
      ),
      fc.constantFrom('', 'usage=missing', 'usage=zero', 'usage=huge', 'usage=triple', 'usage=negative'),
    )
    .map(([tokens, end, usage]) => `tokens=${tokens} delay=0 ${end} ${usage}`.trim()),
  isStreamed: fc.boolean(),
  instructions: fc.option(fc.constantFrom('Be brief.', 'Sei höflich und kurz. 短く答えて。')),
  isCall: fc.boolean(),
  tokensMax: fc.option(fc.integer({ min: 1, max: 50 })),
});

describe('the money of a response', () => {
  const cleanup = createCleanup();
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ worker: false, env: catalogWithTranslatedModel(cleanup) });
    cleanup.later(() => gateway.stop());
  });
  afterEach(() => gateway.expectSoundMoney());
  after(() => cleanup.run());

  /** Sends the call as a user of its own, because what is set aside depends on what there is. */
  const moneyOf = async (path: string, body: object): Promise<object> => {
    const user = await gateway.createUser(100);
    const response = await fetch(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.text();
    await until('nothing is reserved', () => isSettled(user));
    const [call] = await readCalls(gateway, user);
    if (!call) throw new Error('the call was not recorded');
    const { tried: _accounts, ...money } = call;
    return money;
  };
  const asChat = (plan: Plan): object => ({
    messages: [
      ...(plan.instructions === null ? [] : [{ role: 'system', content: plan.instructions }]),
      ...say(plan.directive),
    ],
    stream: plan.isStreamed,
    max_completion_tokens: plan.tokensMax,
    ...(plan.isCall && { tools: [{ type: 'function', function: TOOL }], tool_choice: 'required' }),
  });
  const asResponse = (plan: Plan): object => ({
    input: inputOf(plan.directive),
    instructions: plan.instructions,
    stream: plan.isStreamed,
    max_output_tokens: plan.tokensMax,
    ...(plan.isCall && { tools: [{ type: 'function', ...TOOL }], tool_choice: 'required' }),
  });
  it('equals that of the same chat call, however its stream ends', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS, async (plan) => {
        const chat = await moneyOf(CHAT, { model: CHAT_MODEL, ...asChat(plan) });
        const passed = await moneyOf(RESPONSES, { model: CHAT_MODEL, ...asResponse(plan) });
        const translated = await moneyOf(RESPONSES, { model: TRANSLATED_MODEL, ...asResponse(plan) });
        expect(passed, 'passed on').to.deep.equal(chat);
        expect(translated, 'translated').to.deep.equal(chat);
      }),
      { numRuns: RUNS, seed: 18 },
    );
  });
});
