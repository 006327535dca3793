// Invalid settings of limits: the process names them and does not start.
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { ConfigError, loadConfig } from '../../../config/config.ts';

const NEEDED = {
  NODE_ENV: 'test',
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  SVC_SECRET_KEYS: `test:${Buffer.alloc(32, 1).toString('base64url')}`,
};
const REDIS_URL = 'redis://127.0.0.1:6379';

describe('the settings of limits', () => {
  const wrong: [title: string, env: Record<string, string>, named: string][] = [
    ['Redis is required and none is named', { SVC_RATE_LIMIT_REQUIRE_REDIS: '1' }, 'REDIS_URL'],
    ['SVC_RATE_LIMIT_REQUIRE_REDIS=2', { REDIS_URL, SVC_RATE_LIMIT_REQUIRE_REDIS: '2' }, 'REQUIRE_REDIS'],
    [
      'SVC_RATE_LIMIT_REQUIRE_REDIS=true',
      { REDIS_URL, SVC_RATE_LIMIT_REQUIRE_REDIS: 'true' },
      'REQUIRE_REDIS',
    ],
    ['a REDIS_URL that is none', { REDIS_URL: 'http://127.0.0.1' }, 'REDIS_URL'],
    ['a limit without its seconds', { SVC_LIMIT_READ: '60' }, 'SVC_LIMIT_READ'],
    ['a limit of no points', { SVC_LIMIT_READ: '0/60' }, 'SVC_LIMIT_READ'],
    ['a part of a second', { SVC_LIMIT_READ: '60/0.5' }, 'SVC_LIMIT_READ'],
    ['a proxy that is no address', { SVC_TRUSTED_PROXIES: 'proxy.example.com' }, 'SVC_TRUSTED_PROXIES'],
    ['no hops', { SVC_TRUSTED_PROXIES: '0' }, 'SVC_TRUSTED_PROXIES'],
    ['a network with too many bits', { SVC_TRUSTED_PROXIES: '10.0.0.0/33' }, 'SVC_TRUSTED_PROXIES'],
  ];
  for (const [title, env, named] of wrong) {
    it(`${title}: refused by name`, () => {
      expect(() => loadConfig({ ...NEEDED, ...env })).to.throw(ConfigError, named);
    });
  }

  it('are all there when nothing is set', () => {
    const { limits, redisUrl, requiresRedis, trustedProxies } = loadConfig(NEEDED);
    expect({ redisUrl, requiresRedis, trustedProxies }).to.deep.equal({
      redisUrl: null,
      requiresRedis: false,
      trustedProxies: 0,
    });
    expect(limits.auth).to.deep.equal({ points: 20, seconds: 1_200 });
  });

  it('know proxies as a number of hops, or as addresses and networks', () => {
    const read = (text: string) => loadConfig({ ...NEEDED, SVC_TRUSTED_PROXIES: text }).trustedProxies;
    expect(read('2')).to.equal(2);
    expect(read('127.0.0.1, 10.0.0.0/8,::1,fd00::/8')).to.deep.equal([
      '127.0.0.1',
      '10.0.0.0/8',
      '::1',
      'fd00::/8',
    ]);
  });

  it('an API process that requires Redis and is given none ends with code 1 and says why', () => {
    const env = { PATH: process.env['PATH'], ...NEEDED, SVC_RATE_LIMIT_REQUIRE_REDIS: '1' };
    const { status, stderr } = spawnSync(process.execPath, ['api/server.ts'], { env, encoding: 'utf8' });
    expect(status, stderr).to.equal(1);
    expect(stderr).to.contain('REDIS_URL: required by SVC_RATE_LIMIT_REQUIRE_REDIS=1');
  });
});
