// The adapter for text tasks: what it sends, and what it makes of answers whose figures cannot be believed.
import { expect } from 'chai';
import type { Provider } from '../../../providers/provider.ts';
import { createProviders } from '../../../providers/registry.ts';
import { failureOf, sendJson, startStandIn, textJob, verdictOf, type StandIn } from '../stand-in.ts';

const MESSAGE = { role: 'assistant', content: 'one two three', refusal: null };
const USAGE = { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 };

describe('the adapter openai-chat, on the wire', () => {
  let vendor: StandIn;
  let provider: Provider;
  let answer: object;

  before(async () => {
    vendor = await startStandIn((res) => sendJson(res, 200, answer, { 'x-request-id': 'req_1' }));
    const credentials = [{ id: 'default', key: 'sk-test' }];
    const families = { openai: { baseUrl: `${vendor.url}/v1/`, credentials } };
    const found = createProviders({ families, upstreamTimeoutMs: 1_000 }).get('openai-chat');
    if (!found) throw new Error('there is no adapter');
    provider = found;
  });
  after(() => vendor.close());
  beforeEach(() => {
    answer = {
      id: 'chatcmpl-1',
      choices: [{ index: 0, message: MESSAGE, finish_reason: 'stop' }],
      usage: USAGE,
    };
  });

  it('sends the messages, a limit and the mark of the user, and nothing else', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'x' }] },
    ];
    const submission = await provider.submit(textJob({ messages }));
    expect(submission).to.deep.equal({
      kind: 'finished',
      results: [{ kind: 'text', text: 'one two three' }],
      evidence: { promptTokens: 4, completionTokens: 3, cachedTokens: 0, cacheWriteTokens: 0 },
      upstreamRequestId: 'req_1',
    });
    const { path, headers, body } = vendor.received.at(-1) ?? { path: '', headers: {}, body: '' };
    expect([path, headers.authorization]).to.deep.equal(['/v1/chat/completions', 'Bearer sk-test']);
    const { safety_identifier: mark, ...sent } = JSON.parse(String(body));
    expect(mark).to.be.a('string');
    expect(sent).to.deep.equal({
      model: 'gpt-6-luna',
      messages,
      max_completion_tokens: 50,
    });
  });

  it('sends no limit where the order covers all that the model can answer', async () => {
    const job = textJob();
    await provider.submit({ ...job, order: { ...job.order, answerLimitedBy: 'model' } });
    const sent = JSON.parse(String(vendor.received.at(-1)?.body));
    expect(sent).not.to.have.any.keys('max_tokens', 'max_completion_tokens');
  });

  for (const [title, usage] of [
    ['missing', undefined],
    ['negative', { ...USAGE, completion_tokens: -1 }],
    ['absurd', { ...USAGE, completion_tokens: 9_000_000_000_000_000_000 }],
    ['a text', { ...USAGE, prompt_tokens: '4' }],
    ['not whole', { ...USAGE, prompt_tokens: 4.5 }],
  ] as const)
    it(`counts itself when the usage is ${title}`, async () => {
      answer = { ...answer, usage };
      const submission = await provider.submit(textJob());
      if (submission.kind !== 'finished') throw new Error('it is not finished');
      // “Say something.” has 3 tokens, and a message 4 more.
      expect(submission.evidence).to.deep.equal({ promptTokens: 7, completionTokens: 3 });
    });

  it('believes more than was ordered, and reasoning that stands in the total alone', async () => {
    answer = { ...answer, usage: { ...USAGE, completion_tokens: 51, total_tokens: 3_055 } };
    const submission = await provider.submit(textJob());
    expect(submission).to.have.nested.property('evidence.completionTokens', 3_051);
  });

  it('believes a zero', async () => {
    answer = { ...answer, usage: { prompt_tokens: 0, completion_tokens: 0 } };
    const submission = await provider.submit(textJob());
    expect(submission).to.have.nested.property('evidence.completionTokens', 0);
  });

  it('an answer without a text is none: refused by a filter, or not to be understood', async () => {
    const silent = { ...MESSAGE, content: '' };
    answer = { choices: [{ index: 0, message: silent, finish_reason: 'content_filter' }], usage: USAGE };
    expect(verdictOf(await failureOf(provider.submit(textJob())))).to.equal('moderation, refused');
    answer = { choices: [{ index: 0, message: silent, finish_reason: 'stop' }], usage: USAGE };
    expect(verdictOf(await failureOf(provider.submit(textJob())))).to.equal('invalid_response, refused');
  });

  it('the text is what the answer says, without the reasoning beside it', async () => {
    const message = { ...MESSAGE, content: 'Yes.', reasoning_content: 'Let me think.' };
    answer = { ...answer, choices: [{ index: 0, message, finish_reason: 'stop' }] };
    const submission = await provider.submit(textJob());
    expect(submission).to.have.deep.property('results', [{ kind: 'text', text: 'Yes.' }]);
  });

  it('the text is joined from parts, where a service sends its content as a list', async () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Let me think.' }] },
      { type: 'text', text: 'Yes, ' },
      { type: 'text', text: 'do.' },
    ];
    answer = { ...answer, choices: [{ index: 0, message: { ...MESSAGE, content }, finish_reason: 'stop' }] };
    const submission = await provider.submit(textJob());
    expect(submission).to.have.deep.property('results', [{ kind: 'text', text: 'Yes, do.' }]);
  });

  it('an error with status 200 is refused, with the vendor’s reason', async () => {
    answer = { error: { message: 'It was flagged.', code: 'content_policy_violation' } };
    const failure = await failureOf(provider.submit(textJob()));
    expect([verdictOf(failure), failure.text]).to.deep.equal(['moderation, refused', 'It was flagged.']);
  });
});
