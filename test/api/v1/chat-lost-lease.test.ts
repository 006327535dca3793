// Chat calls that the sweeper settled as abandoned although their process lives: nothing more is delivered.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import {
  ask,
  eventsIn,
  isSettled,
  openStream,
  readBalance,
  readCalls,
  readUntil,
} from '../../support/chat.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { activitiesOf } from '../../support/servers/engine.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';
import { startStandIn, type StandIn } from '../../providers/stand-in.ts';

const WORD_EVERY_MS = 20;
const PIECE = `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: ' word' } }] })}\n\n`;

describe('chat calls whose lease is lost', () => {
  let upstream: StandIn;
  let gateway: TestGateway;
  let owner: TestUser;
  /** Resolves when the connection of the last call to the upstream is closed. */
  let upstreamClosed: Promise<unknown>;
  let play: (res: ServerResponse) => void;

  before(async () => {
    upstream = await startStandIn((res) => {
      upstreamClosed = once(res, 'close');
      play(res);
    });
    const env = { OPENAI_BASE_URL: `${upstream.url}/v1`, SVC_CHAT_LEASE_SECONDS: '2' };
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
    await until('no call is under way', async () => gateway.services.chat.running.running === 0);
    await gateway.expectSoundMoney();
  });

  /** Settles the call of the owner as another process does that takes it for abandoned. */
  async function loseLease(): Promise<void> {
    await until('the call has reserved', async () => (await readCalls(gateway, owner)).length > 0);
    await gateway.em().execute(sql`
      update chat_call set lease_until = now() - interval '1 second' where user_id = ${owner.id}`);
    expect((await activitiesOf(gateway).sweepTasks()).settled).to.equal(1);
  }

  it('a stream ends with an error, its upstream is stopped, and what was delivered is charged', async () => {
    play = (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => res.write(PIECE), WORD_EVERY_MS);
      res.once('close', () => clearInterval(timer));
    };
    const response = await openStream(gateway.baseUrl, owner);
    const beginning = await readUntil(response, (text) => text.length > PIECE.length);
    await loseLease();
    const rest = await readUntil(response, () => false);
    await upstreamClosed;
    const events = eventsIn(beginning + rest);
    expect(JSON.parse(events.at(-1) ?? '').error).to.include({ code: 'service_unavailable' });
    const [call] = await readCalls(gateway, owner);
    expect(call).to.include({ status: 'failed', basis: 'estimated', loss: '0' });
    expect(call?.completionTokens, 'every word that was sent is charged').to.equal(events.length - 1);
    expect((await readBalance(owner)).balance).to.equal(1_000 - Number(call?.charged) / 1_000_000);
    expect(await isSettled(owner)).to.equal(true);
  });

  it('a stream that has not begun is refused, and costs nothing', async () => {
    play = () => undefined;
    const opened = openStream(gateway.baseUrl, owner);
    await loseLease();
    const response = await opened;
    expect(response.status).to.equal(503);
    expect(JSON.parse(await response.text()).error.code).to.equal('service_unavailable');
    await upstreamClosed;
    expect(await readBalance(owner)).to.include({ balance: 1_000, reserved: 0 });
  });

  it('a whole answer is not awaited any longer, and costs nothing', async () => {
    play = (res) => void res.writeHead(200, { 'content-type': 'application/json' }).write(' ');
    const answer = ask(owner);
    await loseLease();
    expectError(await answer, 503, 'service_unavailable');
    await upstreamClosed;
    expect(await readBalance(owner)).to.include({ balance: 1_000, reserved: 0 });
  });
});
