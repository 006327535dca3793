// OpenAI chat completions as the sandbox plays them: what goes wrong by directive, also as xAI.

import { expect } from 'chai';
import { CHAT_PATH, chat, chatBody, userMessage } from './chat-support.ts';
import {
  ask,
  at,
  eventually,
  expectSensitive,
  isCutOff,
  newPrompt,
  readJournal,
  useSandbox,
} from '../support.ts';
import { itDistortsUsage, itRefusesWithoutJob } from '../vendor-rules.ts';
import { OPENAI_REFUSALS, readOpenaiRefusal } from './refusals.ts';

describe('sandbox: OpenAI chat', () => {
  const sandbox = useSandbox();

  const url = (path = CHAT_PATH): string => sandbox().url + path;

  describe('the directive submit', () => {
    itRefusesWithoutJob(
      {
        sandbox,
        submit: (prompt) => ask(url(), { method: 'POST', body: { ...chatBody(''), ...userMessage(prompt) } }),
      },
      OPENAI_REFUSALS,
      readOpenaiRefusal,
    );

    it('counts *N over all vendors, so that the first one fails and the next one answers', async () => {
      const body = chatBody('submit=503*1');
      const first = await ask(url(), { method: 'POST', body });
      const second = await ask(url('/xai/v1/chat/completions'), { method: 'POST', body });
      expect([first.status, second.status]).to.eql([503, 200]);
    });

    for (const fault of ['reset', 'accept_then_reset', 'truncated'])
      it(`breaks the connection with submit=${fault}`, async () => {
        const { prompt, marker } = newPrompt(`submit=${fault}`);
        const asking = ask(url(), { method: 'POST', body: { ...chatBody(''), ...userMessage(prompt) } });
        expect(await isCutOff(asking)).to.equal(true);
        const [entry] = await readJournal(sandbox(), marker);
        expect(entry).to.include({
          vendor: 'openai',
          operation: 'chat',
          status: fault === 'truncated' ? 200 : null,
          clientClosedAt: null,
        });
      });

    it('answers with a page for submit=html, and without id and choices for submit=no_id', async () => {
      expect((await chat(sandbox(), 'submit=html')).headers.get('content-type')).to.contain('text/html');
      const { body } = await chat(sandbox(), 'submit=no_id');
      expect(body).to.have.all.keys('object', 'created', 'model');
    });
  });

  describe('the directives outcome, seconds, text and usage', () => {
    for (const directives of ['submit=hang', 'outcome=stuck', 'seconds=60'])
      it(`does not answer ${directives}, and the journal says when the client disconnected`, async () => {
        const { prompt, marker } = newPrompt(directives);
        const leaving = new AbortController();
        const body = { ...chatBody(''), ...userMessage(prompt) };
        const asking = isCutOff(ask(url(), { method: 'POST', body, signal: leaving.signal }));
        const waiting = await eventually(async () => (await readJournal(sandbox(), marker))[0]);
        expect(waiting).to.include({ status: null, clientClosedAt: null });
        leaving.abort();
        expect(await asking).to.equal(true);
        await eventually(async () => (await readJournal(sandbox(), marker))[0]?.clientClosedAt ?? undefined);
      });

    it('answers after the time of the directive seconds', async () => {
      const startedAt = performance.now();
      await chat(sandbox(), 'seconds=0.2');
      expect(performance.now() - startedAt).to.be.at.least(190);
    });

    it('answers whole when a stream of the same would be over, after first and the delays between tokens', async () => {
      const startedAt = performance.now();
      await chat(sandbox(), 'first=80 delay=40 tokens=4');
      expect(performance.now() - startedAt).to.be.at.least(80 + 3 * 40 - 10);
    });

    for (const [directives, status, type, code] of [
      ['outcome=fail', 500, 'server_error', null],
      ['outcome=fail reason=invalid', 400, 'invalid_request_error', 'invalid_value'],
      ['outcome=fail reason=quota', 429, 'insufficient_quota', 'insufficient_quota'],
      ['outcome=fail reason=concurrency', 429, 'requests', 'rate_limit_exceeded'],
      ['outcome=fail reason=moderation', 400, 'invalid_request_error', 'content_policy_violation'],
      ['outcome=expire', 500, 'server_error', null],
      ['outcome=cancelled', 500, 'server_error', null],
    ] as const)
      it(`ends ${directives} with ${status} ${code ?? type}`, async () => {
        for (const fields of [{}, { stream: true }]) {
          const answer = await chat(sandbox(), directives, fields);
          expect(answer.status).to.equal(status);
          expect(at(answer.body, 'error')).to.include({ type, code });
        }
      });

    it('stops at its content filter with outcome=moderated', async () => {
      const { body } = await chat(sandbox(), 'outcome=moderated');
      expect(at(body, 'choices.0.finish_reason')).to.equal('content_filter');
    });

    it('shows internal details with text=leaky', async () => {
      for (const directives of ['outcome=fail', 'submit=500']) {
        const message = at((await chat(sandbox(), `text=leaky ${directives}`)).body, 'error.message');
        expectSensitive(message);
      }
    });

    itDistortsUsage(8, async (directives) =>
      at((await chat(sandbox(), directives)).body, 'usage.completion_tokens'),
    );

    it('has no usage with usage=missing', async () => {
      expect((await chat(sandbox(), 'usage=missing')).body).not.to.have.property('usage');
    });
  });

  describe('xAI', () => {
    it('answers as xAI at its path, in xAI’s error format', async () => {
      const { prompt, marker } = newPrompt('submit=401*1');
      const body = { ...chatBody(''), ...userMessage(prompt) };
      const refused = await ask(url('/xai/v1/chat/completions'), { method: 'POST', body });
      expect(refused.body).to.have.all.keys('code', 'error');
      expect((await ask(url('/xai/v1/chat/completions'), { method: 'POST', body })).status).to.equal(200);
      const entries = await readJournal(sandbox(), marker);
      expect(entries.map(({ vendor, operation }) => [vendor, operation])).to.eql([
        ['xai', 'chat'],
        ['xai', 'chat'],
      ]);
    });
  });
});
