// Streams of vendors that end or break off before their first byte give their connection's place back.
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { failureOfStatus } from '../../../providers/http/status.ts';
import { openStream, waitForFirstBytes, type StreamingResponse } from '../../../providers/http/stream.ts';
import { StreamPool } from '../../../providers/http/stream-pool.ts';
import { until } from '../../support/until.ts';
import { failureOf, startStandIn, verdictOf, type StandIn } from '../stand-in.ts';

const WAIT_MS = 1_500;

describe('a stream whose first bytes are awaited', () => {
  let vendor: StandIn;
  let pool: StreamPool;
  let play: (res: ServerResponse) => void;
  let answers: ServerResponse[];

  before(async () => {
    vendor = await startStandIn((res) => {
      answers.push(res);
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      play(res);
    });
  });
  beforeEach(() => {
    pool = new StreamPool(8);
    answers = [];
  });
  afterEach(() => pool.agent.destroy());
  after(() => vendor.close());

  const open = (): Promise<StreamingResponse> =>
    openStream(
      pool,
      {
        ...{ url: vendor.url, headers: {}, body: '{}', timeoutMs: 5_000 },
        ...{ userId: 'usr_1', signal: new AbortController().signal },
      },
      failureOfStatus,
    );
  const placesAreFree = () => until('its place is free', async () => pool.load.taken === 0, 2_000);

  it('and that has ended before anyone waits fails at once, and gives its place back', async () => {
    play = (res) => void res.end();
    expect(verdictOf(await failureOf(waitForFirstBytes(await open(), WAIT_MS)))).to.equal(
      'invalid_response, unknown',
    );
    await placesAreFree();
  });

  for (const [what, finish, verdict] of [
    ['ends', (res: ServerResponse) => res.end(), 'invalid_response, unknown'],
    ['breaks off', (res: ServerResponse) => res.destroy(), 'transient, unknown'],
  ] as const)
    it(`and that ${what} during the wait fails, and gives its place back`, async () => {
      play = (res) => res.flushHeaders();
      const waiting = failureOf(waitForFirstBytes(await open(), WAIT_MS));
      expect(pool.load.taken).to.equal(1);
      for (const res of answers) finish(res);
      expect(verdictOf(await waiting)).to.equal(verdict);
      await placesAreFree();
    });

  it('and that broke off before anyone waits fails at once', async () => {
    play = (res) => res.flushHeaders();
    const stream = await open();
    for (const res of answers) res.destroy();
    await until('it is broken', async () => stream.body.errored !== null);
    expect(verdictOf(await failureOf(waitForFirstBytes(stream, WAIT_MS)))).to.equal('transient, unknown');
    await placesAreFree();
  });

  it('and that says nothing in that time is left open, and read from its first byte', async () => {
    play = (res) => res.flushHeaders();
    const stream = await open();
    await waitForFirstBytes(stream, 20);
    expect(pool.load.taken).to.equal(1);
    for (const res of answers) res.end('data: 1\n\n');
    expect(await stream.body.text()).to.equal('data: 1\n\n');
    await placesAreFree();
  });
});
