// Models of one's own at start: what has to be set, what may be reached over http, and how problems are
// named.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ADAPTERS } from '../../domain/catalog/adapters.ts';
import { isPrivateHost } from '../../config/private-hosts.ts';
import { ConfigError, loadConfig } from '../../config/config.ts';
import { createProviders } from '../../providers/registry.ts';

const NEEDED = {
  DATABASE_URL: 'postgres://u:p@db/x',
  SVC_SECRET_KEYS: `k:${Buffer.alloc(32, 7).toString('base64url')}`,
};
const EXAMPLES = 'examples/catalog';

describe('models of one’s own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-overlay-'));
  const file = join(folder, 'overlay.json');
  after(() => rmSync(folder, { recursive: true, force: true }));

  function load(overlay: object | string, env: Record<string, string> = {}) {
    writeFileSync(file, typeof overlay === 'string' ? overlay : JSON.stringify(overlay));
    return loadConfig({ ...NEEDED, SVC_CATALOG_OVERLAY: file, ...env });
  }
  const model = (upstream: object, changes: object = {}) => ({
    models: [
      {
        id: 'own',
        family: 'house',
        free: true,
        upstreams: [{ family: 'house', upstreamModel: 'm', ...upstream }],
        ...changes,
      },
    ],
  });
  const HTTPS = { baseUrl: 'https://house.example/v1' };
  const LOCAL = { baseUrl: 'http://10.1.2.3:8000/v1', auth: 'none' };

  it('are offered without any key where they need none', () => {
    const { catalog } = load(model({ ...HTTPS, auth: 'none' }));
    expect([...catalog.models.keys()]).to.deep.equal(['own']);
  });

  it('take address and key from the settings of their family', () => {
    const { families } = load(model({}), { HOUSE_BASE_URL: 'https://h.example/v1/', HOUSE_API_KEY: 'k' });
    expect(families['house']).to.deep.include({ baseUrl: 'https://h.example/v1' });
    expect(load(model({ auth: 'none' }), { HOUSE_BASE_URL: 'https://h.example' }).families).to.have.keys(
      'house',
    );
  });

  const refused: [title: string, overlay: object | string, named: string, env?: Record<string, string>][] = [
    ['a key that is missing', model(HTTPS), 'own: the family house has no key: set HOUSE_API_KEY'],
    ['an address that is missing', model({}), 'HOUSE_BASE_URL', { HOUSE_API_KEY: 'k' }],
    ['no address without a key', model({ auth: 'none' }), 'own: the family house has no address'],
    ['a picture by the adapter for text', model(HTTPS, { kind: 'image' }), 'overlay.models[0].adapter (own)'],
    [
      'a shipped model whose family has no key',
      { models: [{ id: 'gpt-image-2', endedOn: '2030-01-01' }] },
      'gpt-image-2: the family openai has no key: set OPENAI_API_KEY',
    ],
    ['a file that is no JSON', '{', 'SVC_CATALOG_OVERLAY ('],
    ['allowHttp for a public host', model({ ...LOCAL, baseUrl: 'http://house.example/v1', allowHttp: true }),
      '"allowHttp" is for private hosts, and http://house.example is none'],
    ['plain http in production', model(LOCAL), 'production talks to http://10.1.2.3:8000 over https',
      { NODE_ENV: 'production' }],
    ['a base URL over http in production', model({}), 'HOUSE_BASE_URL: production talks',
      { NODE_ENV: 'production', HOUSE_BASE_URL: 'http://10.1.2.3/v1', HOUSE_API_KEY: 'k' }],
  ]; // prettier-ignore
  for (const [title, overlay, named, env] of refused)
    it(`refuse ${title}, with file and model`, () => {
      expect(() => load(overlay, env)).to.throw(ConfigError, named);
    });

  it('refuse a file that is not there', () => {
    const env = { ...NEEDED, SVC_CATALOG_OVERLAY: join(folder, 'none.json') };
    expect(() => loadConfig(env)).to.throw(ConfigError, 'none.json): ENOENT');
  });

  it('are reached over http in production where the entry allows it, in a private network', () => {
    const env = { NODE_ENV: 'production' };
    expect(() => load(model({ ...LOCAL, allowHttp: true }), env)).not.to.throw();
    const bySetting = { ...env, HOUSE_BASE_URL: 'http://vllm:8000/v1' };
    expect(() => load(model({ auth: 'none', allowHttp: true }), bySetting)).not.to.throw();
  });

  it('are offered by every example, with a key for each of its families', () => {
    const keys = ['DEEPSEEK', 'OPENROUTER', 'HOUSE', 'HOUSE_RESERVE'];
    const env = Object.fromEntries([
      ...keys.map((name) => [`${name}_API_KEY`, 'k']),
      ...keys.slice(2).map((name) => [`${name}_BASE_URL`, 'https://house.example/v1']),
    ]);
    for (const name of readdirSync(EXAMPLES)) {
      const config = loadConfig({
        ...{ ...NEEDED, ...env, NODE_ENV: 'production' },
        SVC_CATALOG_OVERLAY: join(EXAMPLES, name),
      });
      expect(config.catalog.models.size, name).to.equal(1);
    }
  });

  it('are private by the spelling of their host', () => {
    const isPrivate = (host: string) => isPrivateHost(`http://${host}/v1`);
    for (const host of [
      '10.0.0.1',
      '172.31.0.1',
      '192.168.1.1',
      '127.0.0.1',
      '[::1]',
      '[fd00::1]',
      'vllm',
      'a.local',
    ])
      expect(isPrivate(host), host).to.equal(true);
    for (const host of [
      '8.8.8.8',
      '172.32.0.1',
      '169.254.169.254',
      '[2001:db8::1]',
      'example.com',
      'local.example',
    ])
      expect(isPrivate(host), host).to.equal(false);
  });
});

describe('the names of adapters in catalogues', () => {
  it('are those of the registry, with their families', () => {
    const credentials = [{ id: 'a', key: 'k' }];
    const families = Object.fromEntries(
      Object.values(ADAPTERS).map((family) => [family, { baseUrl: 'https://x.example', credentials }]),
    );
    const providers = createProviders({ families, upstreamTimeoutMs: 1 });
    for (const [adapter, family] of Object.entries(ADAPTERS)) {
      expect(providers.get(adapter), adapter).not.to.equal(undefined);
      if (adapter !== 'openai-chat') expect(providers.get(adapter)?.family).to.equal(family);
    }
    expect(providers.families()).to.have.members([...new Set(Object.values(ADAPTERS))]);
  });
});
