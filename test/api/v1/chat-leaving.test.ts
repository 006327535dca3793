// Callers who leave, and what vendors send and report in unusual ways: nothing that a vendor bills is free.
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import sharp from 'sharp';
import { expectPrice, isSettled, lastCall, openStream, readCalls, readUntil } from '../../support/chat.ts';
import { loadTokenizer } from '../../../providers/chat/tokens.ts';
import { beginStream, playChatUpstream } from '../../support/servers/chat-upstream.ts';
import { until } from '../../support/until.ts';
import { sendJson } from '../../providers/stand-in.ts';

const USAGE = { prompt_tokens: 7, completion_tokens: 2_000, total_tokens: 2_007 };
const PIECES = 200;
const TOKENS_COUNTED_PER_MESSAGE = 4;

describe('a caller who leaves', () => {
  const chat = playChatUpstream({ SVC_UPSTREAM_TIMEOUT_SECONDS: '5', SVC_STREAM_SECONDS_MAX: '4' });
  let closedAfterMs: number | null;

  before(loadTokenizer); // which would otherwise stop both sides of the test at the first count

  const play = (answer: (res: ServerResponse) => void): void => {
    chat.play = (res) => {
      const startedAt = Date.now();
      closedAfterMs = null;
      res.once('close', () => (closedAfterMs = Date.now() - startedAt));
      answer(res);
    };
  };

  const settled = (): Promise<boolean> => until('the call is settled', () => isSettled(chat.owner));

  /** Opens a stream, and leaves when `seen` has been read. */
  async function leaveAfter(seen: string, fields: object = {}): Promise<void> {
    const leaving = new AbortController();
    const params = { fields: { max_tokens: 4_000, ...fields } };
    const response = await openStream(chat.gateway.baseUrl, chat.owner, params, leaving.signal);
    await readUntil(response, (text) => text.includes(seen));
    leaving.abort();
    await settled();
  }

  function streamed(res: ServerResponse, deltas: readonly object[]): void {
    beginStream(res);
    res.write(deltas.map((delta) => chunk({ delta })).join(''));
  }

  describe('a stream between its last piece and its usage', () => {
    for (const [title, delta] of [
      ['a legacy call of a function', { function_call: { arguments: ' word' } }],
      ['a call of a custom tool', { tool_calls: [{ type: 'custom', custom: { input: ' word' } }] }],
      ['reasoning', { reasoning: ' word' }],
    ] as const)
      it(`is charged what was reported, for ${title}`, async () => {
        play((res) => {
          streamed(
            res,
            Array.from({ length: PIECES }, () => delta),
          );
          res.write(chunk({ delta: {}, finish_reason: 'stop' }));
          setTimeout(() => {
            res.end(`data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`);
          }, 500);
        });
        await leaveAfter('"finish_reason":"stop"');
        const call = await lastCall(chat.owner);
        expect(call).to.include({ status: 'cancelled', billingBasis: 'upstream', completionTokens: 2_000 });
        expectPrice(call.creditsCharged, 7, 2_000);
      });

    it('is charged what was sent when the usage does not come, and the upstream is left', async () => {
      play((res) => {
        streamed(
          res,
          Array.from({ length: PIECES }, () => ({ function_call: { arguments: ' word' } })),
        );
        res.write(chunk({ delta: {}, finish_reason: 'stop' }));
      });
      await leaveAfter('"finish_reason":"stop"');
      const call = await lastCall(chat.owner);
      expect(call).to.include({ status: 'cancelled', billingBasis: 'estimated', completionTokens: PIECES });
      expect(closedAfterMs).to.be.within(1_500, 3_500);
    });
  });

  it('a stream that has not begun is free, and no error for operators', async () => {
    let isAsked = false;
    play(() => (isAsked = true));
    const loggedBefore = chat.gateway.logged().length;
    const leaving = new AbortController();
    const params = { fields: { max_tokens: 4_000 } };
    const answer = openStream(chat.gateway.baseUrl, chat.owner, params, leaving.signal).catch(() => 'left');
    await until('the upstream is asked', async () => isAsked);
    leaving.abort();
    expect(await answer).to.equal('left');
    await settled();
    expect(await lastCall(chat.owner)).to.include({ status: 'cancelled', creditsCharged: 0 });
    const logged = (): string => chat.gateway.logged().slice(loggedBefore);
    await until('the request is logged', async () => logged().includes('"aborted":true'));
    expect(logged()).not.to.include('"level":"error"');
  });

  it('a stream in its middle leaves the upstream at once', async () => {
    play((res) => streamed(res, [{ content: 'one' }, { content: ' two' }]));
    await leaveAfter('two');
    expect(await lastCall(chat.owner)).to.include({ status: 'cancelled', completionTokens: 2 });
    expect(closedAfterMs).to.be.below(1_000);
  });

  it('a stream about a photo of 12 megapixels pays its 14,364 tokens, for which enough was set aside', async () => {
    const photo = sharp({ create: { width: 4_032, height: 3_024, channels: 3, background: 'red' } });
    const url = `data:image/jpeg;base64,${(await photo.jpeg().toBuffer()).toString('base64')}`;
    play((res) => streamed(res, [{ content: 'one' }, { content: ' two' }]));
    const content = [{ type: 'image_url', image_url: { url } }];
    await leaveAfter('two', { messages: [{ role: 'user', content }] });
    const call = await lastCall(chat.owner);
    expect(call).to.include({ status: 'cancelled', billingBasis: 'estimated' });
    expect(call.promptTokens).to.equal(14_364 + TOKENS_COUNTED_PER_MESSAGE);
    expectPrice(call.creditsCharged, call.promptTokens, 2);
  });

  describe('a whole answer that the vendor works on', () => {
    async function leaveWhole(headers: Record<string, string> = {}): Promise<void> {
      const leaving = new AbortController();
      const params = { fields: { stream: false, max_tokens: 4_000 }, headers };
      const asked = chat.upstream.received.length;
      const answer = openStream(chat.gateway.baseUrl, chat.owner, params, leaving.signal).catch(() => 'left');
      await until('the upstream is asked', async () => chat.upstream.received.length > asked);
      leaving.abort();
      expect(await answer).to.equal('left');
    }
    const answerLater = (res: ServerResponse): void => {
      const choices = [{ index: 0, message: { role: 'assistant', content: 'done' }, finish_reason: 'stop' }];
      setTimeout(() => sendJson(res, 200, { id: 'c', choices, usage: USAGE }), 700);
    };

    it('is awaited, and charged what the vendor reports', async () => {
      play(answerLater);
      await leaveWhole();
      expect(chat.gateway.services.chat.running.running, 'it counts among the calls of its user').to.equal(1);
      await settled();
      const call = await lastCall(chat.owner);
      expect(call).to.include({ billingBasis: 'upstream', completionTokens: 2_000 });
      expectPrice(call.creditsCharged, 7, 2_000);
    });

    it('is kept for the caller who comes back with the same Idempotency-Key', async () => {
      play(answerLater);
      const headers = { 'idempotency-key': crypto.randomUUID() };
      await leaveWhole(headers);
      await settled();
      const params = { fields: { stream: false, max_tokens: 4_000 }, headers };
      const again = await until('the answer is kept', async () => {
        const response = await openStream(chat.gateway.baseUrl, chat.owner, params);
        return response.status === 200 ? response : null;
      });
      expect(again.headers.get('idempotent-replayed')).to.equal('true');
      expect(await readCalls(chat.gateway, chat.owner)).to.have.length(1);
    });

    it('costs its prompt when it takes longer than any call may', async () => {
      play((res) => {
        res.writeHead(200, { 'content-type': 'application/json' });
        const dribble = setInterval(() => res.write(' '), 200);
        res.once('close', () => clearInterval(dribble));
      });
      await leaveWhole();
      await settled();
      const call = await lastCall(chat.owner);
      expect(call).to.include({ status: 'cancelled', billingBasis: 'estimated', completionTokens: 0 });
      expect(call.creditsCharged).to.be.above(0);
    });
  });

  it('nobody leaves: usage beyond what was ordered costs what was reserved, and the rest is a loss', async () => {
    play((res) => {
      const usage = { prompt_tokens: 7, completion_tokens: 1, total_tokens: 50_008 };
      sendJson(res, 200, { id: 'c', choices: [{ index: 0, message: { content: 'x' } }], usage });
    });
    const fields = { stream: false, max_tokens: 16 };
    expect((await openStream(chat.gateway.baseUrl, chat.owner, { fields })).status).to.equal(200);
    const [call] = await readCalls(chat.gateway, chat.owner);
    expect(call).to.include({ basis: 'upstream', completionTokens: 50_001, charged: call?.reserved });
    expect(Number(call?.loss)).to.be.closeTo(50_001 * 100 + 7 * 20 - Number(call?.reserved), 2);
  });
});

function chunk(choice: object): string {
  return `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, finish_reason: null, ...choice }], usage: null })}\n\n`;
}
