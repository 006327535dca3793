// Requests that lead nowhere and need no login are limited per address; nothing else from there is.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { Secrets } from '../../../db/secrets.ts';
import { makeToken } from '../../../db/identity/tokens.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { quotaOf, verdictOf } from '../../support/http/limits.ts';
import type { Answer } from '../../support/http/http.ts';

describe('stray requests', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({
      worker: false,
      env: { SVC_LIMIT_STRAY: '3/60', SVC_TRUSTED_PROXIES: '1' },
    });
    owner = await gateway.createUser();
  });
  after(() => gateway.stop());

  let address = 0;
  const freshAddress = () => ({ 'x-forwarded-for': `192.0.2.${(address += 1)}` });
  const isKnown = (path: string): boolean => !path.includes('nothing');
  const cookie = (token: string) => ({ cookie: `svc_session=${token}` });
  const get = (path: string, headers: Record<string, string>): Promise<Answer> =>
    gateway.anonymous.send('GET', path, { headers, ...(isKnown(path) ? {} : { undocumented: true }) });

  const strays: [title: string, path: string, headers: () => Record<string, string>, status: string][] = [
    ['unknown routes', '/v1/nothing', () => ({}), '404'],
    ['no session', '/api/tasks', () => ({}), '401'],
    ['sessions that never were', '/api/tasks', () => cookie(randomBytes(38).toString('base64url')), '401'],
    ['sessions that have ended', '/api/tasks', () => cookie(makeToken(gateway.secrets, 'session')), '401'],
    [
      'forged links to results',
      `/results/task_${'0'.repeat(26)}/1/0.png?expires=1&signature=x`,
      () => ({}),
      '404',
    ],
    [
      'forged links to uploads',
      `/uploads/file_${'0'.repeat(26)}.mp4?expires=1&signature=x`,
      () => ({}),
      '404',
    ],
  ];
  for (const [title, path, headers, status] of strays)
    it(`are ${title}: 429 beyond the limit, for that address alone`, async () => {
      const from = freshAddress();
      const verdicts: string[] = [];
      let last: Answer | undefined;
      for (let round = 0; round < 5; round += 1) {
        last = await get(path, { ...from, ...headers() });
        verdicts.push(verdictOf(last));
      }
      const refused = 'rate_limited by memory';
      expect(verdicts).to.deep.equal([status, status, status, refused, refused]);
      expect(last && quotaOf(last)).to.include({ name: 'stray', limit: 3, seconds: 60, remaining: 0 });
      expect(verdictOf(await get(path, { ...freshAddress(), ...headers() }))).to.equal(status);
    });

  it('do not keep good callers of the same address from anything', async () => {
    const from = freshAddress();
    for (let round = 0; round < 5; round += 1) await get('/nothing', from);
    expect((await owner.key.get('/v1/models', from)).status).to.equal(200);
    expect((await owner.session.get('/api/tasks', from)).status).to.equal(200);
    expect((await owner.key.delete('/v1/uploads/videos/x', from)).status, 'a missing file').to.equal(404);
    const { email, password } = owner;
    expect((await gateway.anonymous.post('/api/auth/login', { email, password }, from)).status).to.equal(200);
  });

  it('ask the database nothing where the session never was, and for one that has ended just once', async () => {
    const other = new Secrets([{ id: 'other', bytes: randomBytes(32) }]);
    const ended = cookie(makeToken(gateway.secrets, 'session'));
    expect(verdictOf(await get('/api/tasks', { ...freshAddress(), ...ended }))).to.equal('401');
    await gateway.em().transactional(async (tx) => {
      await tx.execute('lock table session in access exclusive mode'); // a query would wait
      const forged = cookie(makeToken(other, 'session'));
      for (const wrong of [forged, ended])
        expect(verdictOf(await get('/api/tasks', { ...freshAddress(), ...wrong }))).to.equal('401');
    });
  });

  it('take no more memory for a long cookie than for a short one', async () => {
    const long = cookie(randomBytes(10_000).toString('base64url'));
    expect(verdictOf(await get('/api/tasks', { ...freshAddress(), ...long }))).to.equal('401');
    const lengths = [...gateway.services.endedSessions.keys()].map(({ length }) => length);
    expect(Math.max(...lengths)).to.be.below(100);
  });
});
