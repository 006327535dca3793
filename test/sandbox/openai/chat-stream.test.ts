// Streams of OpenAI chat completions as the sandbox plays them: every chunk, and every way to break.

import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { SENSITIVE_PARTS } from '../../../sandbox/error-text.ts';
import { CHAT_PATH, chatBody, streamChat, type Streamed } from './chat-support.ts';
import { at, eventually, type Json, newPrompt, readJournal, useSandbox } from '../support.ts';

const WITH_USAGE = { stream_options: { include_usage: true } };

describe('sandbox: OpenAI chat streams', () => {
  const sandbox = useSandbox();

  function textOf({ chunks }: Streamed, choice = 0): string {
    return chunks
      .map((chunk) => at(chunk, 'choices.0'))
      .filter((part) => at(part, 'index') === choice)
      .map((part) => at(part, 'delta.content'))
      .filter((text) => typeof text === 'string')
      .join('');
  }

  describe('chunks', () => {
    it('brings the role, a chunk for each token, the end, the usage and [DONE]', async () => {
      const streamed = await streamChat(sandbox(), 'tokens=3', WITH_USAGE);
      expect(streamed.type).to.match(/^text\/event-stream/);
      expect(streamed.events.at(-1)).to.equal('[DONE]');
      const first = streamed.chunks[0];
      expect(first).to.include({ object: 'chat.completion.chunk', model: 'gpt-6-luna', usage: null });
      expect(first?.['choices']).to.eql([
        {
          index: 0,
          delta: { role: 'assistant', content: '', refusal: null },
          logprobs: null,
          finish_reason: null,
        },
      ]);
      expect(streamed.chunks.slice(1, 4).map((chunk) => at(chunk, 'choices.0.delta'))).to.eql([
        { content: 'the' },
        { content: ' quick' },
        { content: ' brown' },
      ]);
      expect(streamed.chunks[4]?.['choices']).to.eql([
        { index: 0, delta: {}, logprobs: null, finish_reason: 'stop' },
      ]);
      expect(streamed.chunks[5]?.['choices']).to.eql([]);
      expect(streamed.chunks[5]?.['usage']).to.include({ completion_tokens: 3 });
      expect(streamed.chunks).to.have.length(6);
      expect(new Set(streamed.chunks.map(({ id }) => id)).size).to.equal(1);
    });

    it('has no usage unless it is requested, and only null with usage=missing', async () => {
      for (const chunk of (await streamChat(sandbox(), '')).chunks)
        expect(chunk).not.to.have.property('usage');
      const { chunks, events } = await streamChat(sandbox(), 'usage=missing', WITH_USAGE);
      expect(chunks.every(({ usage }) => usage === null)).to.equal(true);
      expect(events.at(-1)).to.equal('[DONE]');
      const tripled = await streamChat(sandbox(), 'usage=triple', WITH_USAGE);
      expect(at(tripled.chunks.at(-1), 'usage.completion_tokens')).to.equal(24);
    });

    it('marks each of n answers with its index', async () => {
      const streamed = await streamChat(sandbox(), 'tokens=3', { n: 2 });
      expect(textOf(streamed, 0)).to.equal('the quick brown');
      expect(textOf(streamed, 1)).to.equal('quick brown fox');
      const ends = streamed.chunks.filter((chunk) => at(chunk, 'choices.0.finish_reason') === 'stop');
      expect(ends).to.have.length(2);
    });

    it('calls a function piece by piece', async () => {
      const parameters = { type: 'object', properties: { city: { type: 'string' } } };
      const tools = [{ type: 'function', function: { name: 'weather', parameters } }];
      const { chunks } = await streamChat(sandbox(), '', { tools, tool_choice: 'required' });
      const calls = chunks.map((chunk) => at(chunk, 'choices.0.delta.tool_calls.0')).filter(Boolean);
      expect(calls[0]).to.include({ index: 0, type: 'function' });
      expect(at(calls[0], 'function')).to.eql({ name: 'weather', arguments: '' });
      const text = calls.map((call) => at(call, 'function.arguments')).join('');
      expect(JSON.parse(text)).to.eql({ city: 'fox' });
      expect(at(chunks.at(-1), 'choices.0.finish_reason')).to.equal('tool_calls');
    });

    it('ends at max_tokens, and at its content filter', async () => {
      const cut = await streamChat(sandbox(), 'tokens=9', { max_tokens: 2 });
      expect(textOf(cut)).to.equal('the quick');
      expect(at(cut.chunks.at(-1), 'choices.0.finish_reason')).to.equal('length');
      const moderated = await streamChat(sandbox(), 'outcome=moderated');
      expect(at(moderated.chunks.at(-1), 'choices.0.finish_reason')).to.equal('content_filter');
    });

    it('obfuscates on request', async () => {
      const { chunks } = await streamChat(sandbox(), '', { stream_options: { include_obfuscation: true } });
      for (const chunk of chunks) expect(chunk['obfuscation']).to.be.a('string');
    });
  });

  describe('pauses and breaks', () => {
    it('waits before the first chunk and between the others as directed', async () => {
      const startedAt = performance.now();
      const { firstMs } = await streamChat(sandbox(), 'first=120 delay=60 tokens=3');
      expect(firstMs).to.be.at.least(110);
      expect(performance.now() - startedAt).to.be.at.least(230);
    });

    for (const [tokens, chunks] of [
      [0, 0],
      [3, 4],
      [8, 9],
    ] as const)
      it(`breaks after ${tokens} tokens with die_after=${tokens}`, async () => {
        const { prompt, marker } = newPrompt(`die_after=${tokens}`);
        const messages = [{ role: 'user', content: prompt }];
        const streamed = await streamChat(sandbox(), '', { messages, ...WITH_USAGE });
        expect(streamed).to.include({ status: 200, isBroken: true });
        expect(streamed.chunks).to.have.length(chunks);
        const [entry] = await readJournal(sandbox(), marker);
        expect(entry).to.include({ operation: 'chat', status: 200, clientClosedAt: null });
      });

    it('is complete where it would break only after its last token', async () => {
      expect((await streamChat(sandbox(), 'die_after=9')).events.at(-1)).to.equal('[DONE]');
    });

    for (const [tokens, chunks] of [
      [0, 1],
      [2, 4],
    ] as const)
      it(`sends an error after ${tokens} tokens and ends without [DONE]`, async () => {
        const streamed = await streamChat(sandbox(), `error_after=${tokens} text=leaky`);
        expect(streamed.isBroken).to.equal(false);
        expect(streamed.chunks).to.have.length(chunks);
        expect(streamed.events).not.to.include('[DONE]');
        const error = at(streamed.chunks.at(-1), 'error');
        expect(error).to.include({ type: 'server_error', param: null });
        expect(at(error, 'message')).to.contain(SENSITIVE_PARTS.bearer);
      });

    it('words the error as xAI does at xAI’s path', async () => {
      const { chunks } = await streamChat(sandbox(), 'error_after=1', {}, '/xai/v1/chat/completions');
      expect(chunks.at(-1)?.['error']).to.equal('Internal error. Please try again.');
    });

    it('breaks within an event with submit=truncated, and is empty with submit=no_id', async () => {
      const truncated = await streamChat(sandbox(), 'submit=truncated');
      expect(truncated.isBroken).to.equal(true);
      expect(truncated.events).to.have.length(truncated.chunks.length + 1);
      expect((await streamChat(sandbox(), 'submit=no_id')).events).to.eql(['[DONE]']);
    });
  });

  describe('slow and disconnected clients', () => {
    for (const directives of ['outcome=stuck', 'delay=60000', 'first=60000'])
      it(`notes in the journal when the client disconnects from a stream with ${directives}`, async () => {
        const { prompt, marker } = newPrompt(directives);
        const leaving = new AbortController();
        const messages = [{ role: 'user', content: prompt }];
        const response = await fetch(sandbox().url + CHAT_PATH, {
          method: 'POST',
          headers: { authorization: 'Bearer sk-test' },
          body: JSON.stringify({ ...chatBody('', { messages }), stream: true }),
          signal: leaving.signal,
        });
        expect(response.status).to.equal(200);
        expect((await readJournal(sandbox(), marker))[0]?.clientClosedAt).to.equal(null);
        leaving.abort();
        await eventually(async () => (await readJournal(sandbox(), marker))[0]?.clientClosedAt ?? undefined);
      });

    it('waits for a client that does not read', async () => {
      const { prompt, marker } = newPrompt('tokens=200000 delay=0');
      const body: Json = { ...chatBody(''), messages: [{ role: 'user', content: prompt }], stream: true };
      const text = JSON.stringify(body);
      const socket = connect(sandbox().port, '127.0.0.1');
      socket.write(
        `POST ${CHAT_PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\ncontent-length: ${text.length}\r\n\r\n`,
      );
      socket.write(text);
      await once(socket, 'readable');
      const heapBefore = process.memoryUsage().heapUsed;
      for (let turn = 0; turn < 50; turn += 1) await fetch(`${sandbox().url}/_jobs`);
      expect(process.memoryUsage().heapUsed - heapBefore).to.be.lessThan(30 * 1024 * 1024);
      socket.destroy();
      await eventually(async () => (await readJournal(sandbox(), marker))[0]?.clientClosedAt ?? undefined);
    });
  });
});
