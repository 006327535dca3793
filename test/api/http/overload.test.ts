// Requests are refused before they are read while there is no room for them; health and what is under way go
// on.
import { request } from 'node:http';
import { expect } from 'chai';
import { BODY_BUDGET, createBodyBudget } from '../../../api/http/body-budget.ts';
import {
  createOverloadGuard,
  overloadLimits,
  type LoadSigns,
  type OverloadGuard,
  type Seat,
  type Shortage,
} from '../../../api/http/overload.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { sendRaw } from '../../support/http/raw.ts';
import { until } from '../../support/until.ts';

const CALM: LoadSigns = { databaseWaiters: () => 0, memoryShare: () => 0.1, takeDelayMs: () => 1 };
const LIMITS = overloadLimits({ inFlightMax: 2, delayMs: 200 });

function admit(guard: OverloadGuard, subject: string): Seat {
  const seat = guard.enter(subject);
  if (typeof seat === 'string') throw new Error(`refused: ${seat}`);
  return seat;
}

/** What is short for one more request; null when it would be admitted. */
function look(guard: OverloadGuard, subject: string): Shortage | null {
  const seat = guard.enter(subject);
  if (typeof seat === 'string') return seat;
  seat.leave();
  return null;
}

describe('the overload guard', () => {
  it('lets in as many requests as fit, and another one for each that leaves', () => {
    const guard = createOverloadGuard(LIMITS, CALM);
    const seats = [admit(guard, 'one'), admit(guard, 'another')];
    expect(guard.enter('third')).to.equal('in_flight');
    seats[0]?.leave();
    seats[0]?.leave(); // a place is given back once
    admit(guard, 'third');
    expect(guard.enter('one')).to.equal('in_flight');
    guard.stop();
  });

  it('refuses while too many wait for the database', () => {
    let waiters = LIMITS.databaseWaitersMax;
    const guard = createOverloadGuard(LIMITS, { ...CALM, databaseWaiters: () => waiters });
    admit(guard, 'one');
    waiters += 1;
    expect(guard.enter('one')).to.equal('database');
    guard.stop();
  });

  it('does not count a request that only waits', () => {
    const guard = createOverloadGuard(LIMITS, CALM);
    const resume = admit(guard, 'one').rest();
    admit(guard, 'one');
    const last = admit(guard, 'one');
    resume();
    expect(guard.enter('one')).to.equal('in_flight');
    last.rest();
    last.leave();
    expect(guard.enter('one')).to.equal('in_flight');
    guard.stop();
  });

  it('looks at memory every second, and refuses until there is enough again', async () => {
    let share = 0.81;
    const guard = createOverloadGuard(LIMITS, { ...CALM, memoryShare: () => share });
    admit(guard, 'one').leave();
    await until('it refuses', async () => look(guard, 'one') === 'memory');
    share = 0.1;
    await until('it lets in again', async () => look(guard, 'one') === null);
    guard.stop();
  });

  it('refuses callers with many requests while the event loop is late, and others only with the many', async () => {
    let delayMs = 201;
    const guard = createOverloadGuard(
      { ...LIMITS, inFlightMax: 1_000 },
      { ...CALM, takeDelayMs: () => delayMs },
    );
    for (let each = 0; each < 200; each += 1) admit(guard, 'a burst');
    await until('the burst is refused', async () => look(guard, 'a burst') === 'event_loop');
    expect(look(guard, 'a neighbour')).to.equal(null);
    const neighbours = Array.from({ length: 56 }, (_, each) => admit(guard, `neighbour ${each}`));
    expect(look(guard, 'a neighbour')).to.equal('event_loop');
    neighbours[0]?.leave();
    expect(look(guard, 'a neighbour')).to.equal(null);
    delayMs = 1;
    await until('it lets in again', async () => look(guard, 'a burst') === null);
    guard.stop();
  });

  it('forgives a single late second', async () => {
    const delays = [900, 1, 900, 1];
    let windows = 0;
    const limits = { ...LIMITS, inFlightMax: 1_000 };
    const guard = createOverloadGuard(limits, { ...CALM, takeDelayMs: () => delays[windows++] ?? 1 });
    for (let each = 0; each < 200; each += 1) admit(guard, 'one');
    const verdicts = new Set<unknown>();
    await until('four seconds have passed', async () => {
      verdicts.add(look(guard, 'one'));
      return windows >= 4;
    });
    expect([...verdicts]).to.deep.equal([null]);
    guard.stop();
  });
});

describe('the budget for bodies', () => {
  it('is shared by all callers, none of which may have more than a part, and is given back once', () => {
    const budget = createBodyBudget({ bytesMax: 100, bytesPerCallerMax: 60 });
    const release = budget.reserve('one', 60);
    expect(budget.reserve('one', 1)).to.equal(null);
    expect(budget.reserve('other', 41)).to.equal(null);
    const other = budget.reserve('other', 40);
    expect(other).to.be.a('function');
    release?.();
    release?.();
    expect(budget.reserve('third', 61)).to.equal(null);
    expect(budget.reserve('third', 60)).to.be.a('function');
  });
});

describe('a gateway that is full', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_REQUESTS_IN_FLIGHT_MAX: '1' } });
    owner = await gateway.createUser();
  });
  after(() => gateway.stop());

  it('answers 503 with Retry-After and an id, reads no body, and serves again when there is room', async () => {
    const authorization = `Bearer ${owner.apiKey}`;
    const headers = { authorization, 'content-type': 'application/json' };
    const path = '/v1/estimates';
    // Its body never comes, and so the request occupies the only slot until its caller disconnects.
    const holding = request(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-length': '100' },
    });
    holding.on('error', () => undefined).flushHeaders();
    await until('the place is taken', async () => (await owner.key.get('/v1/models')).status === 503);

    const refused = await owner.key.get('/v1/models');
    expect(refused.status).to.equal(503);
    expect(refused.body.error).to.include({ code: 'overloaded', type: 'server_error' });
    expect(refused.headers.get('retry-after')).to.equal('1');
    const unread = await sendRaw(gateway.baseUrl, {
      method: 'POST',
      path,
      headers,
      announcedBytes: 1_000_000,
    });
    expect(unread.status).to.equal(503);

    holding.destroy();
    await until('there is room', async () => (await owner.key.get('/v1/models')).status === 200);
    const metrics = await gateway.services.metrics.registry.metrics();
    expect(metrics).to.match(/svc_http_requests_shed_total\{reason="in_flight"\} [1-9]/);
    expect(metrics).to.match(/svc_http_request_duration_seconds_count\{.*code="overloaded"\} [1-9]/);
  });
});

describe('a gateway whose memory is limited', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser();
  });
  after(() => gateway.stop());

  it('refuses the bodies of a caller that do not fit beside each other, and no others', async () => {
    const bytes = 20 * 1024 ** 2;
    const ofKey = ({ apiKey }: TestUser) => ({
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
    });
    const headers = ofKey(owner);
    const send = (more: Record<string, string>) =>
      request(`${gateway.baseUrl}/v1/estimates`, { method: 'POST', headers: { ...headers, ...more } });
    // The body is announced, and never sent.
    const held = Array.from({ length: 6 }, () => send({ 'content-length': String(bytes) }));
    for (const sending of held) sending.on('error', () => undefined).flushHeaders();
    const body = JSON.stringify({
      mode: 'image',
      model: 'gpt-image-2',
      prompt: 'a cat',
      pad: 'x'.repeat(9 * 1024 ** 2),
    });
    const { bodies } = gateway.services;
    await until('all of them have their room', async () => {
      const release = bodies.reserve(owner.id, BODY_BUDGET.bytesPerCallerMax - 6 * bytes + 1);
      release?.();
      return release === null;
    });
    const refused = await owner.key.send('POST', '/v1/estimates', { body, headers });
    expect(refused.status).to.equal(503);
    expect(refused.body.error.code).to.equal('overloaded');
    expect(refused.headers.get('retry-after')).to.equal('1');
    const small = { mode: 'image', model: 'gpt-image-2', prompt: 'a cat' };
    expect((await owner.key.post('/v1/estimates', small)).status).to.equal(200);
    const neighbour = await gateway.createUser();
    expect(
      (await neighbour.key.send('POST', '/v1/estimates', { body, headers: ofKey(neighbour) })).status,
    ).to.equal(200);
    for (const sending of held) sending.destroy();
    await until('there is room again', async () => {
      const { status } = await owner.key.send('POST', '/v1/estimates', { body, headers });
      return status === 200;
    });
  });

  it('counts small bodies too: those announced and never sent fill the share of their sender alone', async () => {
    const headers = { authorization: `Bearer ${owner.apiKey}`, 'content-type': 'application/json' };
    const held = Array.from({ length: 128 }, () =>
      request(`${gateway.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...headers, 'content-length': String(1024 ** 2) },
        agent: false,
      }),
    );
    for (const sending of held) sending.on('error', () => undefined).flushHeaders();
    const small = { mode: 'image', model: 'gpt-image-2', prompt: 'a cat' };
    await until(
      'its share is full',
      async () => (await owner.key.post('/v1/estimates', small)).status === 503,
    );
    const neighbour = await gateway.createUser();
    expect((await neighbour.key.post('/v1/estimates', small)).status).to.equal(200);
    for (const sending of held) sending.destroy();
    await until('there is room', async () => (await owner.key.post('/v1/estimates', small)).status === 200);
  });
});
