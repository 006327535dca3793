// Whole answers that are long, as with the likeliest alternatives of every token.
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { LONG_ANSWER_TURN_LIMITS } from '../../../api/http/turn-limits.ts';
import { ask, CHAT_MODEL, INPUT_PRICE, OUTPUT_PRICE, readCalls, say } from '../../support/chat.ts';
import { createCleanup } from '../../support/cleanup.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { isReplay } from '../../support/http/repeatable.ts';
import { longAnswer } from '../../support/long-answers.ts';
import { catalogWithTranslatedModel, respond, TRANSLATED_MODEL } from '../../support/responses.ts';
import { playChatUpstream } from '../../support/servers/chat-upstream.ts';
import { until } from '../../support/until.ts';

/** 1.3 MB: more than is read at once, and than most answers have. */
const TOKENS = 1_000;
const REPORTED = { prompt_tokens: 3, completion_tokens: TOKENS, total_tokens: TOKENS + 3 };
const CHARGE = 3 * INPUT_PRICE + TOKENS * OUTPUT_PRICE;
const { turnsPerUserMax: ANSWERS_OF_USER_MAX } = LONG_ANSWER_TURN_LIMITS;
/** More than the sockets between hold. */
const UNREAD_CHARACTERS = 12 * 1024 * 1024;
const NEARLY_ALL_BYTES = 31 * 1024 * 1024;

describe('a long answer that is not streamed', () => {
  const cleanup = createCleanup();
  const chat = playChatUpstream(catalogWithTranslatedModel(cleanup));
  after(() => cleanup.run());

  const play = (text: string): void => {
    chat.play = (res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(text);
    };
  };
  const playJson = (json: object): void => play(JSON.stringify(json));

  it('is the vendor’s in every value, with our model, and charged as the vendor counted', async () => {
    const answer = longAnswer(TOKENS, { usage: REPORTED });
    playJson(answer);
    const { status, body, headers } = await ask(chat.owner);
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/json; charset=utf-8']);
    const { credits_charged: charged, credits_estimate: estimate, ...usage } = body.usage;
    expect({ ...body, usage }).to.deep.equal({ ...answer, model: CHAT_MODEL, usage: REPORTED });
    expect(charged).to.be.closeTo(CHARGE, 1e-9).and.at.most(estimate);
  });

  it('is charged by our own count when its usage is missing', async () => {
    playJson(longAnswer(TOKENS));
    const { status, body } = await ask(chat.owner);
    expect([status, body.usage.credits_charged > 0]).to.deep.equal([200, true]);
    const [call] = await readCalls(chat.gateway, chat.owner);
    expect(call).to.include({ status: 'completed', basis: 'estimated' });
  });

  it('is charged by our own count when its usage is an answer of its own', async () => {
    playJson(longAnswer(TOKENS, { usage: { ...REPORTED, details: longAnswer(TOKENS) } }));
    const { status, body } = await ask(chat.owner);
    expect([status, body.usage.details]).to.deep.equal([200, undefined]);
    const [call] = await readCalls(chat.gateway, chat.owner);
    expect(call).to.include({ status: 'completed', basis: 'estimated' });
  });

  it('is the same for a repeat under its Idempotency-Key, which is not charged', async () => {
    playJson(longAnswer(TOKENS, { usage: REPORTED }));
    const send = () =>
      chat.owner.key.post(
        '/v1/chat/completions',
        { model: CHAT_MODEL, messages: say() },
        { 'idempotency-key': 'long' },
      );
    const first = await send();
    const repeat = await send();
    expect([isReplay(first), isReplay(repeat)]).to.deep.equal([false, true]);
    expect(repeat.body).to.deep.equal(first.body);
    expect(await readCalls(chat.gateway, chat.owner)).to.have.length(1);
  });

  it('of Responses is the vendor’s as well', async () => {
    const output = [{ type: 'message', content: longAnswer(TOKENS).choices }];
    const usage = { input_tokens: 3, output_tokens: TOKENS, total_tokens: TOKENS + 3 };
    playJson({ id: 'resp_1', object: 'response', status: 'completed', model: 'theirs', output, usage });
    const { status, body } = await respond(chat.owner, {});
    expect([status, body.model, body.store]).to.deep.equal([200, CHAT_MODEL, false]);
    expect(body.output).to.deep.equal(output);
    expect(body.usage.credits_charged).to.be.closeTo(CHARGE, 1e-9);
  });

  it('is told as a response where the vendor knows chat only', async () => {
    playJson(longAnswer(TOKENS, { usage: REPORTED }));
    const { status, body } = await respond(chat.owner, { model: TRANSLATED_MODEL, metadata: { a: 'b' } });
    expect([status, body.status, body.metadata]).to.deep.equal([200, 'completed', { a: 'b' }]);
    expect(body.output[0].content[0].text).to.equal('wörd '.repeat(TOKENS));
    expect(body.usage.credits_charged).to.be.closeTo(CHARGE, 1e-9);
  });

  it('that is no answer is 502, and not charged', async () => {
    playJson({ data: longAnswer(TOKENS) });
    expectError(await ask(chat.owner), 502, 'upstream_invalid_response', null);
    play(JSON.stringify(longAnswer(TOKENS)).slice(0, -1));
    expectError(await ask(chat.owner), 502, 'upstream_invalid_response', null);
    const calls = await readCalls(chat.gateway, chat.owner);
    expect(calls.map(({ charged }) => Number(charged))).to.deep.equal([0, 0]);
  });

  it('of more values than a process can hold is 502, and the next one is read', async () => {
    play(`{"choices":[${'{},'.repeat(NEARLY_ALL_BYTES / 3)}{}]}`);
    expectError(await ask(chat.owner), 502, 'upstream_invalid_response', null);
    playJson(longAnswer(TOKENS, { usage: REPORTED }));
    expect((await ask(chat.owner)).status).to.equal(200);
  });

  /** Asks, and takes nothing of the answer but its beginning. */
  function askUnread(): { socket: Socket; hasBegun: () => boolean } {
    const { hostname, port } = new URL(chat.gateway.baseUrl);
    const socket = connect(Number(port), hostname);
    let hasBegun = false;
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.pause();
      hasBegun = true;
    });
    const body = JSON.stringify({ model: CHAT_MODEL, messages: say(), max_tokens: 10 });
    const head = [
      'POST /v1/chat/completions HTTP/1.1',
      'host: x',
      `authorization: Bearer ${chat.owner.apiKey}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    return { socket, hasBegun: () => hasBegun };
  }

  it(`is one of ${ANSWERS_OF_USER_MAX} at once of a user who takes none; others get theirs, and that user later`, async () => {
    const content = 'x'.repeat(UNREAD_CHARACTERS);
    playJson({
      choices: [{ index: 0, message: { content } }],
      usage: { prompt_tokens: 3, completion_tokens: 9 },
    });
    const readers = Array.from({ length: 2 * ANSWERS_OF_USER_MAX }, askUnread);
    const begun = () => readers.filter(({ hasBegun }) => hasBegun());
    await until('some have begun', async () => begun().length === ANSWERS_OF_USER_MAX);
    const { status } = await ask(await chat.gateway.createUser(), '', { max_tokens: 10 });
    expect([status, begun().length]).to.deep.equal([200, ANSWERS_OF_USER_MAX]);

    for (const { socket } of begun()) socket.destroy();
    await until('the others have begun', async () => begun().length === readers.length);
    for (const { socket } of readers) socket.destroy();
  });

  it('keeps its turn when its caller has left, until it is billed', async () => {
    const held: ServerResponse[] = [];
    chat.play = (res) => void held.push(res);
    const readers = Array.from({ length: 2 * ANSWERS_OF_USER_MAX }, askUnread);
    await until('all were asked', async () => held.length === readers.length);
    for (const { socket } of readers) socket.destroy();
    await until('all have left', async () => readers.every(({ socket }) => socket.closed));
    await chat.owner.key.get('/v1/balance'); // by its answer the gateway has seen them leave
    for (const res of held) res.write(`{"choices":[{"message":{"content":"${'x'.repeat(UNREAD_CHARACTERS)}`);
    const { longAnswerTurns } = chat.gateway.services;
    const waiting = () => longAnswerTurns.countWaiting(chat.owner.id);
    await until('the others wait', async () => waiting() === ANSWERS_OF_USER_MAX);
    await chat.owner.key.get('/v1/balance');
    expect(waiting()).to.equal(ANSWERS_OF_USER_MAX);

    for (const res of held) res.end('"}}],"usage":{"prompt_tokens":3,"completion_tokens":9}}');
    const calls = () => readCalls(chat.gateway, chat.owner);
    await until('all are billed', async () => (await calls()).every(({ status }) => status === 'completed'));
    expect(await calls()).to.have.length(readers.length);
  });
});
