// Requests are refused before they are read while there is no room for them; health and what is under way go
// on.
import { request } from 'node:http';
import { expect } from 'chai';
import { BODY_BUDGET, createBodyBudget } from '../../../api/http/body-budget.ts';
import { createOverloadGuard, overloadLimits, type LoadSigns } from '../../../api/http/overload.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { sendRaw } from '../../support/http/raw.ts';
import { until } from '../../support/until.ts';

const CALM: LoadSigns = { databaseWaiters: () => 0, memoryShare: () => 0.1, takeDelayMs: () => 1 };
const LIMITS = overloadLimits({ inFlightMax: 2, delayMs: 200 });

describe('the overload guard', () => {
  it('lets in as many requests as fit, and another one for each that leaves', () => {
    const guard = createOverloadGuard(LIMITS, CALM);
    expect([guard.enter(), guard.enter(), guard.enter()]).to.deep.equal([null, null, 'in_flight']);
    guard.leave();
    expect([guard.enter(), guard.enter()]).to.deep.equal([null, 'in_flight']);
    guard.stop();
  });

  it('refuses while too many wait for the database', () => {
    let waiters = LIMITS.databaseWaitersMax;
    const guard = createOverloadGuard(LIMITS, { ...CALM, databaseWaiters: () => waiters });
    expect(guard.enter()).to.equal(null);
    waiters += 1;
    expect(guard.enter()).to.equal('database');
    guard.stop();
  });

  for (const [what, signs] of [
    ['event_loop', { takeDelayMs: () => 201 }],
    ['memory', { memoryShare: () => 0.81 }],
  ] as const)
    it(`looks at ${what} every second, and refuses until it is well again`, async () => {
      let isWell = false;
      const sick: LoadSigns = { ...CALM, ...signs };
      const guard = createOverloadGuard(LIMITS, {
        ...CALM,
        takeDelayMs: () => (isWell ? CALM : sick).takeDelayMs(),
        memoryShare: () => (isWell ? CALM : sick).memoryShare(),
      });
      const look = () => {
        const shortage = guard.enter();
        if (shortage === null) guard.leave();
        return shortage;
      };
      expect(look()).to.equal(null);
      await until('it refuses', async () => look() === what);
      isWell = true;
      await until('it lets in again', async () => look() === null);
      guard.stop();
    });

  it('forgives a single late second', async () => {
    const delays = [900, 1, 900, 1];
    let windows = 0;
    const guard = createOverloadGuard(LIMITS, { ...CALM, takeDelayMs: () => delays[windows++] ?? 1 });
    const verdicts = new Set<unknown>();
    await until('four seconds have passed', async () => {
      verdicts.add(guard.enter());
      guard.leave();
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

  it('refuses the large bodies of a caller that do not fit beside each other, and never the small ones', async () => {
    const bytes = 20 * 1024 ** 2;
    const headers = { authorization: `Bearer ${owner.apiKey}`, 'content-type': 'application/json' };
    const send = (more: Record<string, string>) =>
      request(`${gateway.baseUrl}/v1/estimates`, { method: 'POST', headers: { ...headers, ...more } });
    // The body is announced, and never sent.
    const held = Array.from({ length: 3 }, () => send({ 'content-length': String(bytes) }));
    for (const sending of held) sending.on('error', () => undefined).flushHeaders();
    const body = JSON.stringify({
      mode: 'image',
      model: 'gpt-image-2',
      prompt: 'a cat',
      pad: 'x'.repeat(8 * 1024 ** 2),
    });
    const { bodies } = gateway.services;
    await until('all of them have their room', async () => {
      const release = bodies.reserve(owner.id, BODY_BUDGET.bytesPerCallerMax - 3 * bytes + 1);
      release?.();
      return release === null;
    });
    const refused = await owner.key.send('POST', '/v1/estimates', { body, headers });
    expect(refused.status).to.equal(503);
    expect(refused.body.error.code).to.equal('overloaded');
    expect(refused.headers.get('retry-after')).to.equal('1');
    const small = { mode: 'image', model: 'gpt-image-2', prompt: 'a cat' };
    expect((await owner.key.post('/v1/estimates', small)).status).to.equal(200);
    for (const sending of held) sending.destroy();
    await until('there is room', async () => {
      const { status } = await owner.key.send('POST', '/v1/estimates', { body, headers });
      return status === 200;
    });
  });
});
