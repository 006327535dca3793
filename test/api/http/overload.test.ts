// Requests are refused before they are read while there is no room for them; health and what is under way go
// on.
import { request } from 'node:http';
import { expect } from 'chai';
import { BODY_BUDGET } from '../../../api/http/body-budget.ts';
import { RECEIVING_TURN_LIMITS } from '../../../api/http/turn-limits.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { sendRaw } from '../../support/http/raw.ts';
import { until } from '../../support/until.ts';

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
    const { turnsPerUserMax } = RECEIVING_TURN_LIMITS;
    const bytes = BODY_BUDGET.bytesPerCallerMax / turnsPerUserMax;
    const held = Array.from({ length: turnsPerUserMax }, () =>
      request(`${gateway.baseUrl}/v1/estimates`, {
        method: 'POST',
        headers: { ...headers, 'content-length': String(bytes) },
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
