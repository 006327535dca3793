// The request log: one line per request, with what operators need and nothing that callers wrote.
import { expect } from 'chai';
import { connect } from 'node:net';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { IMAGE_MODEL } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';

interface Line {
  msg: string;
  level: string;
  [field: string]: unknown;
}

describe('the request log', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser();
  });
  after(() => gateway.stop());

  const lines = (): Line[] =>
    gateway
      .logged()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ msg }: Line) => msg === 'request');
  /**
   * The line is written when the connection is done with the answer, which may be after the caller has it.
   */
  const lineOf = (requestId: string | null): Promise<Line> =>
    until(`${requestId} is logged`, async () => lines().find((line) => line['requestId'] === requestId));

  it('tells route, status, duration, sizes and who it was', async () => {
    const { headers } = await owner.key.get('/v1/models/gpt-image-2?secret=query-text');
    const line = await lineOf(headers.get('x-request-id'));
    expect(line).to.include({
      level: 'info',
      method: 'GET',
      route: '/v1/models/:id',
      status: 200,
      code: null,
      userId: owner.id,
      keyId: owner.keyId,
      taskId: null,
      ip: '127.0.0.1',
    });
    expect(line['durationMs']).to.be.a('number').above(0).below(60_000);
    expect(line['answerBytes']).to.be.a('number').above(100);
    expect(line).not.to.have.property('aborted');
  });

  it('tells the code of a refusal and its route, and writes one line for each request', async () => {
    const before = lines().length;
    for (const [path, route, code] of [
      ['/v1/images/tasks/task_00000000000000000000000000', '/v1/images/tasks/:id', 'task_not_found'],
      ['/no/such/place', null, 'route_not_found'],
      ['/v1/images/generations', '/v1/images/generations', 'method_not_allowed'],
    ]) {
      const { headers } = await owner.key.get(path ?? '');
      expect(await lineOf(headers.get('x-request-id'))).to.include({ route, code });
    }
    expect(lines().length - before).to.equal(3);
  });

  it('names the task that a request created, and the one it reads', async () => {
    const created = await owner.key.post('/v1/images/generations', { model: IMAGE_MODEL, prompt: 'a cat' });
    const { id } = created.body;
    expect(await lineOf(created.headers.get('x-request-id'))).to.include({ taskId: id, status: 202 });
    const read = await owner.session.get(`/api/tasks/${id}/timeline`);
    expect(await lineOf(read.headers.get('x-request-id'))).to.include({ taskId: id, keyId: null });
  });

  it('writes a line when the caller leaves before the answer', async () => {
    const { hostname, port } = new URL(gateway.baseUrl);
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify({ model: IMAGE_MODEL, prompt: 'a cat' });
    socket.write(
      `POST /v1/images/generations HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${owner.apiKey}\r\n` +
        `x-request-id: gone\r\ncontent-type: application/json\r\ncontent-length: ${body.length + 1}\r\n\r\n${body}`,
      () => setTimeout(() => socket.destroy(), 50),
    );
    const line = await lineOf('gone');
    expect(line).to.include({ aborted: true, route: '/v1/images/generations' });
  });

  it('holds no key, cookie, prompt, query, path or header, whatever a caller sends', async () => {
    const secret = 'canary-4711-canary';
    await owner.key.post('/v1/images/generations?token=canary-4711-canary', {
      model: IMAGE_MODEL,
      prompt: secret,
    });
    await gateway.anonymous.get(`/${secret}/x`);
    await owner.key.get(`/v1/images/tasks/${secret}`);
    await owner.key.get('/v1/balance', { 'user-agent': secret, referer: secret, 'x-other': secret });
    await gateway.anonymous.get('/api/tasks', { cookie: `svc_session=${secret}` });
    await gateway.anonymous.get('/v1/balance', { authorization: `Bearer ${secret}` });
    await owner.key.get('/v1/balance', { 'x-request-id': owner.apiKey });
    const last = await gateway.anonymous.get('/v1/balance');
    await lineOf(last.headers.get('x-request-id'));
    expect(gateway.logged()).not.to.include(secret).and.not.include(owner.apiKey);
  });
});
