// The production shape: docker-compose.yml, the Dockerfile and the settings they give must fit the code.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { z } from 'zod';
import { ConfigError, loadConfig } from '../config/config.ts';
import { SETTING_DEFAULTS } from '../config/settings.ts';
import { SEARCH_ATTRIBUTES } from '../workflows/names.ts';

const project = join(import.meta.dirname, '..');
const OURS = ['migrate', 'api', 'worker'];

const variables = z.record(z.string(), z.union([z.string(), z.number()]));
const service = z.object({
  image: z.string(),
  build: z.string().optional(),
  command: z.array(z.string()).optional(),
  environment: variables.optional(),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  restart: z.string(),
  mem_limit: z.string().optional(),
  pids_limit: z.number().optional(),
  cpu_shares: z.number().default(1024),
  read_only: z.boolean().default(false),
});
type Service = z.infer<typeof service>;

const compose = z
  .object({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.null()) })
  .parse(parse(read('docker-compose.yml'), { merge: true }));
const packageJson = z
  .object({ version: z.string(), dependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read('package.json')));

describe('docker-compose.yml', () => {
  it('gives our processes only what they read', () => {
    for (const name of OURS) {
      for (const variable of Object.keys(find(name).environment ?? {})) {
        const isRead = SETTING_DEFAULTS.has(variable) || variable.startsWith('TEMPORAL_');
        expect(isRead, `${name}: ${variable}`).to.equal(true);
      }
    }
  });

  it('hands over every setting from .env, but the folder of the console, which is in the image', () => {
    const given = new Set(OURS.flatMap((name) => Object.keys(find(name).environment ?? {})));
    const missing = [...SETTING_DEFAULTS.keys()].filter((name) => !given.has(name));
    expect(missing).to.deep.equal(['SVC_CONSOLE_DIR']);
  });

  it('gives our processes everything that production needs', () => {
    for (const name of OURS) {
      const settings = settingsOf(find(name));
      const config = loadConfig(settings);
      expect(config.production, name).to.equal(true);
      expect(config.publicUrl, name).to.equal(filledIn['SVC_PUBLIC_URL']);
      expect(config.storage, name).to.deep.equal({ kind: 'local', folder: '/data/storage' });
      for (const required of ['DATABASE_URL', 'SVC_SECRET_KEYS'])
        expect(() => loadConfig({ ...settings, [required]: '' }), required).to.throw(ConfigError, required);
    }
  });

  it('runs the processes as a user who owns no table, and migrations as the owner', () => {
    for (const name of ['api', 'worker'])
      expect(settingsOf(find(name))).not.to.have.property('SVC_DATABASE_OWNER_URL');
    const { databaseUrl, databaseOwnerUrl } = loadConfig(settingsOf(find('migrate')));
    expect(databaseUrl).to.equal(loadConfig(settingsOf(find('api'))).databaseUrl);
    const script = read('deploy/postgres/create-databases.sh');
    expect(script).to.contain('create database gateway owner gateway');
    for (const [url, user] of [
      [databaseUrl, 'svc_app'],
      [databaseOwnerUrl, 'gateway'],
    ] as const) {
      expect(new URL(url).username).to.equal(user);
      expect(script).to.match(new RegExp(`create role ${user} login`));
    }
  });

  it('counts limits in Redis, and lets nobody pass uncounted', () => {
    const { redisUrl, requiresRedis } = loadConfig(settingsOf(find('api')));
    expect({ redisUrl, requiresRedis }).to.deep.equal({
      redisUrl: 'redis://:secret5@redis:6379',
      requiresRedis: true,
    });
  });

  it('believes one proxy where nothing is said, since only this machine can connect', () => {
    expect(loadConfig(settingsOf(find('api'))).trustedProxies).to.equal(1);
    expect(find('api').ports).to.deep.equal(['127.0.0.1:8080:8080']);
  });

  it('leaves what callers wait for more of the processors than worker and Temporal', () => {
    const shares = (name: string): number => find(name).cpu_shares;
    for (const waited of ['api', 'postgres', 'redis'])
      for (const behind of ['worker', 'temporal'])
        expect(shares(waited) / shares(behind), `${waited}, ${behind}`).to.be.within(2.9, 3.1);
  });

  it('bounds the memory and the processes of every container, and lets ours write to volumes only', () => {
    for (const [name, { mem_limit: memory, pids_limit: pids }] of Object.entries(compose.services)) {
      expect(memory, name).to.match(/^\d+[mg]$/);
      expect(pids, name).to.be.a('number');
    }
    for (const name of OURS) expect(find(name).read_only, name).to.equal(true);
  });

  it('shows metrics inside its network, and publishes none of them', () => {
    for (const name of ['api', 'worker']) {
      expect(loadConfig(settingsOf(find(name))).internalHost, name).to.equal('0.0.0.0');
      expect(find(name).ports.filter((port) => /909\d$/.test(port))).to.deep.equal([]);
    }
  });

  it('holds no password and no key: every one comes from .env', () => {
    const secrets = Object.entries(compose.services).flatMap(([name, { environment = {} }]) =>
      Object.entries(environment)
        .filter(([variable]) => /PASSWORD|PWD|SECRET|_KEY$|DATABASE_URL/.test(variable))
        .map(([variable, value]) => ({ place: `${name}: ${variable}`, value: String(value) })),
    );
    expect(secrets).to.have.length.above(8);
    for (const { place, value } of secrets) expect(value, place).to.match(/\$\{\w+(:\?[^}]+|:-)\}/);
  });

  it('asks for exactly the variables that .env.example lists', () => {
    const required = [...read('docker-compose.yml').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    const offered = [...read('docker-compose.yml').matchAll(/\$\{(\w+):-/g)].map(([, name]) => name);
    const listed = [...read('.env.example').matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=(.*)$/gm)];
    expect(listed.map(([, name]) => name)).to.include.members(required);
    expect([...required, ...offered]).to.include.members(listed.map(([, name]) => name));
    for (const [, name, value] of listed) expect(value, `${name} has no value`).to.equal('');
  });

  it('pins every image', () => {
    for (const { image, build } of Object.values(compose.services)) {
      const [, tag = ''] = image.split(':');
      expect(tag, image).to.match(/^\d+\.\d+(\.\d+)?(-[a-z]+)?$/);
      if (build !== undefined) expect(tag, image).to.equal(packageJson.version);
    }
  });

  it('opens nothing to the world', () => {
    for (const [name, { ports }] of Object.entries(compose.services))
      for (const port of ports) expect(port, name).to.match(/^127\.0\.0\.1:\d+:\d+$/);
  });

  it('waits only for what exists, and for health only where it is checked', () => {
    for (const [name, { depends_on: needs }] of Object.entries(compose.services)) {
      for (const [needed, { condition }] of Object.entries(needs)) {
        const { healthcheck, restart } = find(needed);
        if (condition === 'service_healthy')
          expect(healthcheck, `${name} → ${needed}`).not.to.equal(undefined);
        else expect(restart, `${name} → ${needed}`).to.match(/^on-failure/);
      }
    }
  });

  it('runs programs and mounts files that exist', () => {
    for (const name of OURS) {
      const program = find(name).command?.find((word) => word.endsWith('.ts')) ?? '';
      expect(read(program), program).not.to.equal('');
    }
    for (const { volumes } of Object.values(compose.services)) {
      for (const volume of volumes) {
        const [source = ''] = volume.split(':');
        if (source.startsWith('./')) expect(() => readdirOrFile(source), source).not.to.throw();
        else expect(compose.volumes).to.have.property(source);
      }
    }
  });
});

describe('the image', () => {
  it('has the Node version of this project', () => {
    expect(read('Dockerfile')).to.contain(`FROM node:${packageJson.dependencies['node']}-`);
  });

  it('holds every folder that the processes import from, and no other', () => {
    const allowed = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, name]) => name);
    const rooms = [
      'activities',
      'api',
      'cli',
      'config',
      'console',
      'db',
      'domain',
      'providers',
      'runtime',
      'storage',
      'worker',
      'workflows',
    ];
    const files = ['package.json', 'package-lock.json', '.npmrc', 'catalog.json', 'log.ts'];
    expect(allowed).to.have.members([...files, ...rooms]);
  });
});

describe('deploy/temporal/create-namespace.sh', () => {
  it('registers the search attributes that the workflows set', () => {
    const registered = [...read('deploy/temporal/create-namespace.sh').matchAll(/\b([A-Z]\w+)=([A-Z]\w+)/g)];
    const expected = Object.values(SEARCH_ATTRIBUTES).map(
      ({ name, type }) => `${name}=${type.toLowerCase()}`,
    );
    expect(registered.map(([, name, type]) => `${name}=${type?.toLowerCase()}`)).to.have.members(expected);
  });
});

const filledIn: Record<string, string> = {
  POSTGRES_PASSWORD: 'secret1',
  GATEWAY_DATABASE_PASSWORD: 'secret2',
  APP_DATABASE_PASSWORD: 'secret3',
  TEMPORAL_DATABASE_PASSWORD: 'secret4',
  REDIS_PASSWORD: 'secret5',
  SVC_PUBLIC_URL: 'https://api.example.com',
  SVC_SECRET_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64url')}`,
};

/** What a process finds in its environment when .env is filled in as far as it has to be. */
function settingsOf({ environment = {} }: Service): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).map(([variable, value]) => [
      variable,
      String(value).replace(
        /\$\{(\w+):([?-])([^}]*)\}/g,
        (_, name: string, kind: string, otherwise: string) =>
          filledIn[name] ?? (kind === '-' ? otherwise : `[${name} is not filled in]`),
      ),
    ]),
  );
}

function find(name: string): Service {
  const found = compose.services[name];
  if (!found) throw new Error(`there is no service ${name}`);
  return found;
}

function read(path: string): string {
  return readFileSync(join(project, path), 'utf8');
}

function readdirOrFile(path: string): void {
  const full = join(project, path);
  if (path.endsWith('.sh')) readFileSync(full);
  else readdirSync(full);
}
