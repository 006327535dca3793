// Rate limits: what is counted for which caller, and the headers of the responses.
import { expect } from 'chai';
import { sql } from '@mikro-orm/postgresql';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';
import { quotaOf, verdictOf } from '../../support/http/limits.ts';
import { IMAGE_MODEL } from '../../support/tasks.ts';
import { upload } from '../../support/uploads.ts';

const IMAGES = '/v1/images/generations';
const LOGIN = '/api/auth/login';
const WRONG_KEY = { authorization: 'Bearer sk-svc_wrong' };
/** The Redis that all tests share; each gateway has keys of its own in it. */
const REDIS_URL = process.env['TEST_REDIS_URL'] ?? '';

for (const backend of ['memory', 'redis'] as const)
  describe(`the limits of requests, counted by ${backend}`, () => testLimits(backend));

function testLimits(backend: 'memory' | 'redis'): void {
  const limited = `rate_limited by ${backend}`;
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({
      worker: false,
      env: {
        SVC_LIMIT_READ: '4/60',
        SVC_LIMIT_CREATE: '3/50',
        SVC_LIMIT_CHAT: '3/45',
        SVC_LIMIT_UPLOAD: '2/30',
        SVC_LIMIT_AUTH: '5/40',
        SVC_TRUSTED_PROXIES: '1',
        SVC_WAITING_TASKS_PER_USER: '1',
        ...(backend === 'redis' ? { REDIS_URL } : {}),
      },
    });
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser();
  });

  const from = (ip: string): Record<string, string> => ({ 'x-forwarded-for': ip });
  const repeat = async (count: number, send: () => Promise<Answer>): Promise<string[]> => {
    const verdicts: string[] = [];
    for (let round = 0; round < count; round += 1) verdicts.push(verdictOf(await send()));
    return verdicts;
  };
  const logInFrom = (ip: string): Promise<Answer> =>
    gateway.anonymous.post(LOGIN, { email: `${Math.random()}@example.com`, password: 'wrong' }, from(ip));

  const kinds: [title: string, send: () => Promise<Answer>, status: number, quota: object][] = [
    ['a read by key', () => owner.key.get('/v1/models'), 200, { name: 'read', limit: 4, seconds: 60 }],
    [
      'a read by session',
      () => owner.session.get('/api/balance'),
      200,
      { name: 'read', limit: 4, seconds: 60 },
    ],
    ['an estimate', () => owner.key.post('/v1/estimates', {}), 400, { name: 'read', limit: 4, seconds: 60 }],
    ['something that is not there', () => owner.key.get('/v1/models/none'), 404, { name: 'read', limit: 4 }],
    ['a creation by key', () => owner.key.post(IMAGES, {}), 400, { name: 'create', limit: 3, seconds: 50 }],
    ['a creation by session', () => owner.session.post('/api/tasks', {}), 400, { name: 'create', limit: 3 }],
    ['an upload', () => upload(owner.key), 201, { name: 'upload', limit: 2, seconds: 30 }],
    [
      'a chat call',
      () => owner.key.post('/v1/chat/completions', {}),
      400,
      { name: 'chat', limit: 3, seconds: 45 },
    ],
    ['a login', () => logInFrom('198.51.100.1'), 401, { name: 'login-address', limit: 5, seconds: 40 }],
    [
      'a redemption',
      () => owner.session.post('/api/redeem', { code: 'x' }, from('198.51.100.1')),
      404,
      { name: 'redeem-address', limit: 5, seconds: 40 },
    ],
  ];
  for (const [title, send, status, quota] of kinds) {
    it(`${title} tells how its limit stands, and is refused with 429 when it is used up`, async () => {
      const first = await send();
      expect(first.status).to.equal(status);
      const { limit, remaining, ...rest } = quotaOf(first);
      expect({ limit, ...rest }).to.include(quota);
      expect(remaining).to.equal(limit - 1);
      expect(await repeat(limit - 1, send)).to.deep.equal(Array(limit - 1).fill(String(status)));
      const refused = await send();
      expectError(refused, 429, 'rate_limited', null);
      expect(verdictOf(refused)).to.equal(limited);
      expect(quotaOf(refused)).to.include({ ...quota, remaining: 0 });
      expect(refused.headers.get('cache-control')).to.equal('no-store');
    });
  }

  it('a refused creation leaves no trace', async () => {
    const body = { model: IMAGE_MODEL, prompt: 'x', size: 'none' };
    await repeat(3, () => owner.key.post(IMAGES, body));
    expect(verdictOf(await owner.key.post(IMAGES, body))).to.equal(limited);
    const [row] = await gateway
      .em()
      .execute(sql`select count(*) as tasks from task where user_id = ${owner.id}`);
    expect(Number(row?.tasks)).to.equal(0);
    await gateway.expectSoundMoney();
  });

  it('a body is not read before its request was counted', async () => {
    await repeat(3, () => owner.key.post(IMAGES, {}));
    const answer = await owner.key.send('POST', IMAGES, {
      body: '{',
      headers: { 'content-type': 'text/plain' },
    });
    expect(verdictOf(answer)).to.equal(limited);
  });

  it('one bucket, however its path is written and by whichever method', async () => {
    for (const path of ['/v1/models', '/V1/Models/', '/v1/MODELS?x=1'])
      expect((await owner.key.get(path)).status).to.equal(200);
    expect((await owner.key.send('HEAD', '/v1/models')).status).to.equal(200);
    expect(verdictOf(await owner.key.get('/V1/models/'))).to.equal(limited);
    expect(verdictOf(await owner.key.get('/v1/balance'))).to.equal(limited);
  });

  it('reads count per key and per session user, creations per user', async () => {
    await repeat(4, () => owner.key.get('/v1/models'));
    expect(verdictOf(await owner.key.get('/v1/models'))).to.equal(limited);
    expect((await owner.session.get('/api/balance')).status).to.equal(200);
    expect((await (await gateway.createUser()).key.get('/v1/models')).status).to.equal(200);
    await repeat(2, () => owner.key.post(IMAGES, {}));
    await owner.session.post('/api/tasks', {});
    expect(verdictOf(await owner.key.post(IMAGES, {}))).to.equal(limited);
    expect(verdictOf(await owner.session.post('/api/tasks', {}))).to.equal(limited);
  });

  it('what needs no limiter is not counted: no key, no session, no such route, no permission', async () => {
    for (const [send, status] of [
      [() => gateway.anonymous.get('/v1/models'), 401],
      [() => gateway.anonymous.get('/api/balance'), 401],
      [() => owner.session.get('/api/admin/users'), 403],
      [() => owner.key.get('/v1/none'), 404],
      [() => owner.key.send('PUT', '/v1/models'), 405],
    ] as const) {
      expect(await repeat(6, send)).to.deep.equal(Array(6).fill(String(status)));
      expect((await send()).headers.get('x-ratelimit-limit')).to.equal(null);
    }
  });

  it('a login of an address does not use up its verifications, nor another address’s logins', async () => {
    await repeat(5, () => logInFrom('198.51.100.7'));
    expect(verdictOf(await logInFrom('198.51.100.7'))).to.equal(limited);
    expect(verdictOf(await logInFrom('198.51.100.8'))).to.equal('401');
    const proof = { method: 'password', code: owner.password };
    const verified = await owner.session.post('/api/verify', proof, from('198.51.100.7'));
    expect(verified.status).to.equal(200);
  });

  it('a full queue says how many places it has, and who had counted', async () => {
    const body = { model: IMAGE_MODEL, prompt: 'x' };
    expect((await owner.key.post(IMAGES, body)).status).to.equal(202);
    const refused = await owner.key.post(IMAGES, body);
    expectError(refused, 429, 'queue_full');
    expect(quotaOf(refused)).to.include({ name: 'waiting-tasks', limit: 1, remaining: 0, wait: 15 });
    expect(refused.headers.get('x-ratelimit-backend')).to.equal(backend);
  });

  it('counts its refusals by who decided', async () => {
    const before = gateway.services.limits.metricsSnapshot().refused;
    await repeat(6, () => owner.key.get('/v1/models'));
    const { refused, isBreakerOpen } = gateway.services.limits.metricsSnapshot();
    expect(refused).to.deep.equal({ ...before, [backend]: before[backend] + 2 });
    expect(isBreakerOpen).to.equal(false);
  });

  it('our own faults give the point of a guess back', async () => {
    const { guesses } = gateway.services;
    gateway.services.guesses = { limit: () => Promise.reject(new Error('played')) };
    try {
      expect(await repeat(8, () => logInFrom('198.51.100.30'))).to.deep.equal(Array(8).fill('500'));
    } finally {
      gateway.services.guesses = guesses;
    }
    expect(await repeat(6, () => logInFrom('198.51.100.30'))).to.deep.equal([
      ...Array(5).fill('401'),
      limited,
    ]);
  });

  describe('for wrong keys', () => {
    it('60 a minute of one address: the 61st is refused with 429, good keys from there are not', async () => {
      const send = (): Promise<Answer> =>
        gateway.anonymous.get('/v1/models', { ...WRONG_KEY, ...from('203.0.113.1') });
      expect(await repeat(60, send)).to.deep.equal(Array(60).fill('401'));
      const refused = await send();
      expect(verdictOf(refused)).to.equal(limited);
      expect(quotaOf(refused)).to.include({ name: 'wrong-keys', limit: 60, seconds: 60 });
      expect((await owner.key.get('/v1/models', from('203.0.113.1'))).status).to.equal(200);
      expectError(await gateway.anonymous.get('/v1/models', from('203.0.113.1')), 401, 'missing_api_key');
      const elsewhere = await gateway.anonymous.get('/v1/models', { ...WRONG_KEY, ...from('203.0.113.2') });
      expectError(elsewhere, 401, 'invalid_api_key');
    });
  });

  describe('behind a proxy', () => {
    it('the address that the proxy saw decides, not what the caller put before it', async () => {
      const forge = (): Promise<Answer> =>
        logInFrom(`10.0.0.${Math.floor(Math.random() * 255)}, 198.51.100.20`);
      expect(await repeat(6, forge)).to.deep.equal([...Array(5).fill('401'), limited]);
      expect(verdictOf(await logInFrom('198.51.100.20, 198.51.100.21'))).to.equal('401');
    });
  });
}

describe('the address of a caller', () => {
  const limited = 'rate_limited by memory';
  const logIns = async (trusted: string | null, forwarded: readonly string[]): Promise<string[]> => {
    const env = { SVC_LIMIT_AUTH: '2/60', ...(trusted === null ? {} : { SVC_TRUSTED_PROXIES: trusted }) };
    const gateway = await startGateway({ worker: false, env });
    try {
      const verdicts: string[] = [];
      for (const [index, ip] of forwarded.entries()) {
        const fields = { email: `u${index}@example.com`, password: 'wrong' };
        verdicts.push(verdictOf(await gateway.anonymous.post(LOGIN, fields, { 'x-forwarded-for': ip })));
      }
      return verdicts;
    } finally {
      await gateway.stop();
    }
  };

  it('is never what X-Forwarded-For says while no proxy is trusted', async () => {
    const verdicts = await logIns(null, ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    expect(verdicts).to.deep.equal(['401', '401', limited]);
  });

  it('is the right-most one that no trusted network has', async () => {
    const verdicts = await logIns('127.0.0.0/8, 10.0.0.0/8', [
      '192.0.2.9, 192.0.2.1, 10.1.1.1',
      '192.0.2.8, 192.0.2.1, 10.1.1.2',
      '192.0.2.7, 192.0.2.1',
      '192.0.2.1, 192.0.2.2, 10.1.1.1',
    ]);
    expect(verdicts).to.deep.equal(['401', '401', limited, '401']);
  });

  it('is the peer’s when the proxy in between is another than the trusted one', async () => {
    const verdicts = await logIns('10.0.0.0/8', ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    expect(verdicts).to.deep.equal(['401', '401', limited]);
  });
});
