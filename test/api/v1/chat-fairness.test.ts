// Chat calls of one user beside those of others: how many there may be, how long they live, and who waits.
import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import { ask, eventsIn, isSettled, lastCall, openStream } from '../../support/chat.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';
import { startStandIn, type StandIn } from '../../providers/stand-in.ts';

const CONCURRENT_MAX = 6;
const CONNECTIONS_MAX = 8;
const PIECE = `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: ' word' } }] })}\n\n`;

describe('chat calls of one user', () => {
  let upstream: StandIn;
  let gateway: TestGateway;
  let owner: TestUser;
  let play: (res: ServerResponse) => void;
  const leavings: AbortController[] = [];

  before(async () => {
    upstream = await startStandIn((res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      play(res);
    });
    const env = {
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      SVC_CHAT_CONCURRENT_PER_USER: String(CONCURRENT_MAX),
      SVC_UPSTREAM_CONNECTIONS_MAX: String(CONNECTIONS_MAX),
      SVC_STREAM_SECONDS_MAX: '3',
    };
    gateway = await startGateway({ worker: false, env });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });
  beforeEach(async () => {
    owner = await gateway.createUser();
  });
  afterEach(async () => {
    for (const leaving of leavings.splice(0)) leaving.abort();
    await until('no call is under way', async () => gateway.services.chat.running.running === 0);
    await gateway.expectSoundMoney();
  });

  /** Opens streams that send one piece and then nothing. */
  function hold(user: TestUser, count: number): Promise<Response>[] {
    play = (res) => void res.write(PIECE);
    return Array.from({ length: count }, () => {
      const leaving = new AbortController();
      leavings.push(leaving);
      const opened = openStream(gateway.baseUrl, user, {}, leaving.signal);
      opened.catch(() => undefined); // aborted at the end of the test
      return opened;
    });
  }

  const load = () => gateway.services.chat.upstreams.connectionLoad();
  const running = () => gateway.services.chat.running.running;

  it('are limited: further ones are refused with 429, other users are not', async () => {
    const calls = hold(owner, CONCURRENT_MAX);
    await until('all are under way', async () => running() === CONCURRENT_MAX);
    const refused = await ask(owner);
    expectError(refused, 429, 'concurrency_limited');
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect(refused.headers.get('x-ratelimit-limit')).to.equal(String(CONCURRENT_MAX));
    expect(refused.headers.get('x-ratelimit-backend')).to.equal('memory');
    const other = await gateway.createUser();
    const [theirs] = hold(other, 1);
    expect((await theirs)?.status).to.equal(200);
    leavings[0]?.abort();
    await until('a place is free', async () => running() < CONCURRENT_MAX + 1);
    await Promise.allSettled(calls.slice(0, 1));
    const [next] = hold(owner, 1);
    expect((await next)?.status).to.equal(200);
  });

  it('have at most half of the connections, so that another user finds one; the others wait', async () => {
    void hold(owner, CONCURRENT_MAX);
    await until('some wait', async () => load().waiting === CONCURRENT_MAX - CONNECTIONS_MAX / 2);
    expect(load().taken).to.equal(CONNECTIONS_MAX / 2);
    const other = await gateway.createUser();
    const [theirs] = hold(other, 1);
    expect((await theirs)?.status).to.equal(200);
    leavings[0]?.abort();
    leavings[1]?.abort();
    await until('those who wait get the places', async () => load().waiting < 2);
  });

  it('end with an error when they live too long, and cost what was delivered', async () => {
    const [call] = hold(owner, 1);
    const events = eventsIn((await (await call)?.text()) ?? '');
    expect(JSON.parse(events.at(-1) ?? '').error).to.include({ code: 'stream_timeout' });
    expect(await lastCall(owner)).to.include({
      status: 'failed',
      errorCode: 'stream_timeout',
      completionTokens: 1,
    });
  });

  it('end with an error when their reader takes nothing, and give their connection back', async () => {
    gateway.services.chat.streamLimits.readerPauseMs = 500;
    play = (res) => {
      const write = (): void => {
        while (!res.destroyed && res.write(PIECE.repeat(100)));
        if (!res.destroyed) res.once('drain', write);
      };
      write();
    };
    const [req, res] = await openUnread(gateway.baseUrl, owner);
    await until('the call is settled', () => isSettled(owner));
    expect(await lastCall(owner)).to.include({ status: 'failed', errorCode: 'stream_timeout' });
    expect((await lastCall(owner)).creditsCharged).to.be.above(0);
    await until('its connection is free', async () => load().taken === 0);
    let last = '';
    for await (const piece of res) last = String(piece);
    expect(last, 'a reader that comes back learns why').to.include('stream_timeout');
    req.destroy();
  });
});

/** Opens a stream whose answer is not read. */
async function openUnread(baseUrl: string, user: TestUser): Promise<[ClientRequest, IncomingMessage]> {
  const req = request(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.apiKey}`, 'content-type': 'application/json' },
  });
  const messages = [{ role: 'user', content: 'x' }];
  req.end(JSON.stringify({ model: 'gpt-6-luna', messages, stream: true, max_tokens: 100_000 }));
  const [res] = await once(req, 'response');
  return [req, res];
}
