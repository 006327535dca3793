// Answers of upstreams that no process could write again, or hold: nested too deeply, or without an end.
import { expect } from 'chai';
import { ask, CHAT_MODEL, openStream, readCalls } from '../../support/chat.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { respond, RESPONSES } from '../../support/responses.ts';
import { beginStream, playChatUpstream } from '../../support/servers/chat-upstream.ts';

const LEVELS = 200_000;
const DEEP = '['.repeat(LEVELS) + ']'.repeat(LEVELS);
const CHAT_USAGE = '"usage":{"prompt_tokens":3,"completion_tokens":2}';
const USAGE = '"usage":{"input_tokens":3,"output_tokens":2}';
const CHOICE = '{"index":0,"delta":{"content":"hi"},"message":{"content":"hi"},"finish_reason":"stop"}';
const HEAD = '"id":"a","created":1,"model":"m"';
const CREATED = `data: {"type":"response.created","response":{"id":"a","x":${DEEP}}}\n\n`;
const DELTA = 'data: {"type":"response.output_text.delta","delta":"hi"}\n\n';
const COMPLETED = `data: {"type":"response.completed","response":{"id":"a","x":${DEEP},${USAGE}}}\n\n`;
const CHUNK = `data: {${HEAD},"choices":[${CHOICE}],${CHAT_USAGE},"x":${DEEP}}\n\n`;

describe('an answer of an upstream', () => {
  const chat = playChatUpstream();
  const playWhole = (body: string): void => {
    chat.play = (res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(body);
    };
  };
  const playStream = (...events: string[]): void => {
    chat.play = (res) => {
      beginStream(res);
      for (const event of events) res.write(event);
      res.end();
    };
  };
  const stream = (): Promise<Response> =>
    fetch(`${chat.gateway.baseUrl}${RESPONSES}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${chat.owner.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: CHAT_MODEL, input: 'hi', stream: true }),
    });
  const readCharge = async (): Promise<object> => {
    const [call] = await readCalls(chat.gateway, chat.owner);
    return { status: call?.status, charged: Number(call?.charged) > 0 };
  };
  const FREE = { status: 'failed', charged: false };

  it('that is nested 200,000 levels deep is 502, and not charged', async () => {
    playWhole(`{${HEAD},"choices":[${CHOICE}],${CHAT_USAGE},"x":${DEEP}}`);
    expectError(await ask(chat.owner), 502, 'upstream_invalid_response', null);
    expect(await readCharge()).to.deep.equal(FREE);
  });

  it('in the words of Responses likewise', async () => {
    playWhole(`{"object":"response","status":"completed","output":[],${USAGE},"x":${DEEP}}`);
    expectError(await respond(chat.owner, {}), 502, 'upstream_invalid_response', null);
    expect(await readCharge()).to.deep.equal(FREE);
  });

  for (const [what, events, isCharged] of [
    ['begins', [CREATED, DELTA], false],
    ['ends', [DELTA, COMPLETED], true],
  ] as const)
    it(`that ${what} a stream of Responses ends it with an error, and the process lives`, async () => {
      playStream(...events);
      expect(await (await stream()).text()).to.match(
        /response\.failed[^]*upstream_invalid_response[^]*\n\n$/,
      );
      expect(await readCharge()).to.deep.equal({ status: 'failed', charged: isCharged });
    });

  it('that is an event of a stream of chat ends it with an error', async () => {
    playStream(CHUNK);
    const text = await (await openStream(chat.gateway.baseUrl, chat.owner)).text();
    expect(text).to.match(/^data: \{"error":[^]*upstream_invalid_response/);
    expect(await readCharge()).to.deep.equal(FREE);
  });

  for (const [what, members] of [
    ['has no choice', '"choices":[]'],
    ['has a choice that is none', '"choices":[null]'],
    ['has an error beside its choices', `"error":{"message":"gpu-7.internal"},"choices":[${CHOICE}]`],
  ] as const)
    it(`that ${what} is 502, and not charged, though it has usage`, async () => {
      playWhole(`{${HEAD},${members},${CHAT_USAGE}}`);
      expectError(await ask(chat.owner), 502, 'upstream_invalid_response', null);
      expect(await readCharge()).to.deep.equal(FREE);
    });

  it('in the words of Responses that has an error is 502, and not charged', async () => {
    playWhole(`{"object":"response","status":"cancelled","error":{"message":"no"},"output":[],${USAGE}}`);
    expectError(await respond(chat.owner, {}), 502, 'upstream_invalid_response', null);
    expect(await readCharge()).to.deep.equal(FREE);
  });

  it('that streams comments and no event ends the stream with an error, and is not charged', async () => {
    playStream(': at work\n\n', ': at work\n\n', 'data: [DONE]\n\n');
    const text = await (await openStream(chat.gateway.baseUrl, chat.owner)).text();
    expect(text).to.match(/data: \{"error":[^]*upstream_invalid_response/);
    expect(await readCharge()).to.deep.equal(FREE);
  });

  it('that streams usage but no choice ends the stream with an error, and is not charged', async () => {
    playStream(`data: {${HEAD},"choices":[],${CHAT_USAGE}}\n\n`, 'data: [DONE]\n\n');
    const text = await (await openStream(chat.gateway.baseUrl, chat.owner)).text();
    expect(text).to.match(/^data: \{"error":[^]*upstream_invalid_response/);
    expect(await readCharge()).to.deep.equal(FREE);
  });

  it('whose stream ends within an event ends it with an error, and what came before is charged', async () => {
    const event = `data: {${HEAD},"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n`;
    playStream(event, event.slice(0, 40));
    const text = await (await openStream(chat.gateway.baseUrl, chat.owner)).text();
    expect(text).to.match(/"hi"[^]*data: \{"error":[^]*upstream_invalid_response[^]{0,200}$/);
    expect(await readCharge()).to.deep.equal({ status: 'failed', charged: true });
  });

  it('that is an error of an older kind ends a stream with ours, without a word of theirs', async () => {
    playStream('data: {"object":"error","message":"no room at gpu-7.internal","code":500}\n\n');
    const text = await (await openStream(chat.gateway.baseUrl, chat.owner)).text();
    expect(text).to.match(/^data: \{"error":[^]*upstream_error/);
    expect(text).not.to.include('gpu-7');
    expect(await readCharge()).to.deep.equal(FREE);
  });

  it('whose stream has more text than a model writes is cut, and charged for what came', async () => {
    const text = 'a'.repeat(1024 * 1024);
    const event = `data: {${HEAD},"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`;
    playStream(...Array.from({ length: 40 }, () => event));
    const sent = await (await openStream(chat.gateway.baseUrl, chat.owner)).text();
    expect(sent).to.match(/upstream_invalid_response[^]{0,200}$/);
    expect(sent.length).to.be.below(36 * 1024 * 1024);
    expect(await readCharge()).to.deep.equal({ status: 'failed', charged: true });
  });
});
