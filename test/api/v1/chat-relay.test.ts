// A stream on its way through the gateway: upstreams with dialects of their own, and readers that do not
// read.
import { once } from 'node:events';
import { request } from 'node:http';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect } from 'chai';
import { createApp } from '../../../api/app.ts';
import { createHttpServer } from '../../../api/http/http-server.ts';
import { listen } from '../../../runtime/listener.ts';
import { eventsIn, isSettled, lastCall, openStream, readCalls } from '../../support/chat.ts';
import { beginStream, playChatUpstream } from '../../support/servers/chat-upstream.ts';
import { until } from '../../support/until.ts';

const TOKENS = 100_000;
/** Bytes that make an event as long as with OpenAI's obfuscation. */
const PADDING = 350;
const MEGABYTE = 1024 * 1024;
/** A number that has not grown for so long stands still. */
const STILL_MS = 700;
const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };

describe('a stream on its way', () => {
  const chat = playChatUpstream();

  const play = (send: (res: ServerResponse) => void): void => {
    chat.play = (res) => {
      beginStream(res);
      send(res);
    };
  };

  const stream = (fields: object = {}): Promise<Response> =>
    openStream(chat.gateway.baseUrl, chat.owner, { fields });

  /** What the caller receives when the upstream sends this: the answer's text, and the usage at its end. */
  async function hear(
    said: string | Buffer[],
  ): Promise<{ text: string; usage: Record<string, unknown>; last: string }> {
    play((res) => {
      if (typeof said === 'string') return void res.end(said);
      // One packet per part.
      void said
        .reduce(
          (before, piece) =>
            before.then(() => new Promise<void>((next) => void res.write(piece, () => setTimeout(next, 5)))),
          Promise.resolve(),
        )
        .then(() => res.end());
    });
    const events = eventsIn(await (await stream()).text());
    const chunks = events.filter((event) => event !== '[DONE]').map((event) => JSON.parse(event));
    const text = chunks.map(({ choices }) => choices?.[0]?.delta?.content ?? '').join('');
    const told = chunks.filter(({ usage }) => usage);
    expect(told.length, 'usage is told once').to.be.at.most(1);
    return { text, usage: told[0]?.usage, last: events.at(-1) ?? '' };
  }

  describe('of an upstream with its own manners', () => {
    it('usage with the last piece of the answer', async () => {
      const heard = await hear(`${chunk('one two')}${chunk(' three', USAGE)}data: [DONE]\n\n`);
      expect(heard).to.deep.include({ text: 'one two three', last: '[DONE]' });
      expect(heard.usage).to.include(USAGE);
      expect(await lastCall(chat.owner)).to.include({ billingBasis: 'upstream', promptTokens: 7 });
    });

    it('usage with every piece: the last one counts', async () => {
      const first = { ...USAGE, completion_tokens: 1 };
      const heard = await hear(`${chunk('one', first)}${chunk(' two', USAGE)}data: [DONE]\n\n`);
      expect(heard.usage).to.include(USAGE);
    });

    it('usage with every piece, and a break: what was delivered is counted here', async () => {
      const early = { ...USAGE, completion_tokens: 0 };
      await hear(`${chunk('one two three', early)}data: {"error":{"message":"broken"}}\n\n`);
      expect(await lastCall(chat.owner)).to.include({
        status: 'failed',
        billingBasis: 'estimated',
        completionTokens: 3,
      });
    });

    it('usage by itself, and a break after it: the usage is true', async () => {
      const last = `data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\n`;
      await hear(`${chunk('one')}${last}data: {"error":"broken"}\n\n`);
      expect(await lastCall(chat.owner)).to.include({
        status: 'failed',
        billingBasis: 'upstream',
        completionTokens: 3,
      });
    });

    it('comments, CRLF, no space after “data:”, names of events, and no [DONE]', async () => {
      const said = `: hello\n\nevent: chunk\n${chunk('one')}${chunk(' two').replace('data: ', 'data:')}`;
      const heard = await hear(said.replaceAll('\n', '\r\n'));
      expect(heard.last).to.equal('[DONE]');
      expect(await lastCall(chat.owner)).to.include({ billingBasis: 'estimated', completionTokens: 2 });
    });

    it('letters and events that are cut anywhere', async () => {
      const bytes = Buffer.from(`${chunk('zwölf 🦊')}${chunk(' 狐')}data: [DONE]\n\n`);
      const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
        bytes.subarray(index * 7, index * 7 + 7),
      );
      expect((await hear(pieces)).text).to.equal('zwölf 🦊 狐');
    });

    it('a text that reads like an end or an error', async () => {
      const text = 'data: [DONE] {"error": "no"} "usage": {';
      expect((await hear(`${chunk(text)}data: [DONE]\n\n`)).text).to.equal(text);
      expect(await lastCall(chat.owner)).to.include({ status: 'completed' });
    });

    it('reasoning, refusals and calls of tools count as delivered', async () => {
      const deltas = [
        { reasoning_content: 'one two' },
        { refusal: ' three' },
        { tool_calls: [{ function: { arguments: ' four' } }] },
      ];
      const said = deltas
        .map((delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`)
        .join('');
      await hear(said);
      expect(await lastCall(chat.owner)).to.include({ billingBasis: 'estimated', completionTokens: 4 });
    });
  });

  it('keeps the upstream’s connection, though its end comes a moment after its last word', async () => {
    play((res) => {
      res.write(`${chunk('one')}data: [DONE]\n\n`);
      setTimeout(() => res.end(), 5);
    });
    const before = chat.upstream.connections();
    for (let call = 0; call < 20; call += 1) {
      const answered = chat.upstream.received.length;
      await (await stream()).text();
      expect(chat.upstream.received.length).to.equal(answered + 1);
    }
    expect(chat.upstream.connections() - before).to.be.at.most(5);
  });

  it('does not wait for an upstream that never hangs up after its last word', async () => {
    play((res) => void res.write(`${chunk('one')}data: [DONE]\n\n`));
    expect(eventsIn(await (await stream()).text()).at(-1)).to.equal('[DONE]');
  });

  it('holds the upstream back while its reader does not read, and takes it up again', async () => {
    let written = 0;
    let isDone = false;
    play((res) => void writeAll(res, (bytes) => (written += bytes)).then(() => (isDone = true)));
    // Answers that are no stream of chat are cut sooner than this reader goes on.
    const limits = { answerStallMs: STILL_MS / 2, checkEveryMs: STILL_MS / 10 };
    const strict = createHttpServer(createApp(chat.gateway.services), { limits });
    const port = await listen(strict.server, 0, '127.0.0.1');
    const req = request(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${chat.owner.apiKey}`, 'content-type': 'application/json' },
    });
    req.end(
      JSON.stringify({
        model: 'gpt-6-luna',
        messages: [{ role: 'user', content: 'x' }],
        stream: true,
        max_tokens: TOKENS,
      }),
    );
    const [res] = await once(req, 'response');
    const memory = process.memoryUsage.rss();
    await untilStill(() => written);
    expect(written, 'what the buffers of the systems between take').to.be.below(25 * MEGABYTE);
    expect(isDone).to.equal(false);
    expect(process.memoryUsage.rss() - memory).to.be.below(150 * MEGABYTE);
    let tokens = 0;
    let rest = '';
    for await (const piece of res) {
      const text = rest + String(piece);
      const end = text.lastIndexOf('\n\n') + 2;
      tokens += text.slice(0, end).match(/"content":" word"/g)?.length ?? 0;
      rest = text.slice(end);
    }
    expect(tokens).to.equal(TOKENS);
    await until('the call is settled', () => isSettled(chat.owner));
    const [call] = await readCalls(chat.gateway, chat.owner);
    expect(call).to.include({ status: 'completed', basis: 'estimated' });
    expect(call?.completionTokens).to.be.closeTo(TOKENS, TOKENS / 50);
    req.destroy();
    await strict.close();
  });

  it('lets go of a reader that never reads and then leaves', async () => {
    play((res) => void writeAll(res, () => undefined));
    const leaving = new AbortController();
    await openStream(chat.gateway.baseUrl, chat.owner, { fields: { max_tokens: TOKENS } }, leaving.signal);
    leaving.abort();
    await until('the call is settled', () => isSettled(chat.owner));
    expect(await lastCall(chat.owner)).to.include({ status: 'cancelled', billingBasis: 'estimated' });
  });
});

function chunk(content: string, usage: object | null = null, obfuscation = ''): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }];
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices, usage, obfuscation })}\n\n`;
}

/** Sends a long answer at the reader's pace; stops when the reader disconnects. */
async function writeAll(res: ServerResponse, note: (bytes: number) => void): Promise<void> {
  const event = chunk(' word', null, 'x'.repeat(PADDING));
  function* events(): Generator<string> {
    for (let token = 0; token < TOKENS; token += 1) {
      note(event.length);
      yield event;
    }
    yield 'data: [DONE]\n\n';
  }
  await pipeline(Readable.from(events()), res).catch(() => undefined);
}

/** Waits until a number has stopped growing. */
async function untilStill(read: () => number): Promise<void> {
  let seen = -1;
  let since = Date.now();
  await until('it stands still', async () => {
    if (read() !== seen) since = Date.now();
    seen = read();
    return seen > 0 && Date.now() - since > STILL_MS;
  });
}
