// Writes what Compose is given: docker-compose.yml, what the rehearsal adds to it, certificates, passwords.
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { VENDOR_FAMILIES } from '../system/sandbox-settings.ts';
import { run, type Engine } from './engine.ts';
import { IS_MEASURED, measureStage } from './measured-stage.ts';
import { IS_SOAKED, soakStage } from './soaked-stage.ts';
import { IS_TEMPORAL_APART, partTemporal } from './temporal-apart.ts';

/** Folder of a rehearsal in the project: files, certificates and logs. */
export const ROOM = '.data-rehearsal';
/** What Compose fills docker-compose.yml in with. */
export const ENV_FILE = join(ROOM, 'env');
export const COMPOSE_FILE = 'docker-compose.yml';
export const PROJECT = 'svc-gateway-rehearsal';
export const PROXY_PORT = 18_443;
export const PROMETHEUS_PORT = 19_090;
/** Databases that drills start on a copy of the first; each is a volume, too. */
export const STANDBYS = ['standby', 'second-standby'] as const;
/** The vendors' name inside the network; `.test` is never a real name (RFC 6761). */
const VENDORS = 'vendors.rehearsal.test';
const PROXY_NAME = 'localhost';
const KEY_BYTES = 32;
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30'];
const SERVICE = z.looseObject({ image: z.string(), ports: z.array(z.string()).optional() });
const COMPOSE = z.looseObject({ services: z.record(z.string(), SERVICE) });

type Service = z.infer<typeof SERVICE>;

/** The services of docker-compose.yml, with its merges carried out. */
export function readServices(text: string): Readonly<Record<string, Service>> {
  return COMPOSE.parse(parse(text, { merge: true })).services;
}

/**
 * What the rehearsal adds: a second API and worker, the same as the first but for the port; a proxy that
 * terminates TLS; a bucket; the sandbox behind TLS in the place of the vendors; Prometheus.
 */
export function buildOverride(
  text: string,
): Readonly<Record<'services' | 'volumes', Record<string, unknown>>> {
  const { api, worker, postgres } = readServices(text);
  if (api === undefined || worker === undefined || postgres === undefined)
    throw new Error(`${COMPOSE_FILE} has no api, no worker or no postgres.`);
  const { ports: _, ...unpublished } = api;
  const ours = {
    build: { context: '.', network: 'host' },
    environment: { ...vendorAddresses(), NODE_EXTRA_CA_CERTS: '/etc/rehearsal/ca.crt' },
    volumes: [tls('ca.crt')],
  };
  return {
    services: {
      migrate: ours,
      api: ours,
      worker: ours,
      'second-api': withOurs(unpublished, ours),
      'second-worker': withOurs(worker, ours),
      ...surroundings(api, postgres),
    },
    volumes: Object.fromEntries(STANDBYS.map((name) => [name, {}])),
  };
}

/** What stands around the gateway: proxy, bucket, vendors, Prometheus, and databases for drills. */
function surroundings(api: Service, postgres: Service): Readonly<Record<string, unknown>> {
  return {
    proxy: {
      image: 'svc-gateway-rehearsal/nginx:bookworm',
      ports: [`127.0.0.1:${PROXY_PORT}:443`],
      volumes: [config('proxy.conf', '/etc/nginx/conf.d/proxy.conf'), tls('server.crt'), tls('server.key')],
      depends_on: ['api', 'second-api'],
    },
    ...Object.fromEntries(STANDBYS.map((name) => [name, standbyOf(postgres, name)])),
    bucket: {
      image: 'svc-gateway-rehearsal/bucket:bookworm',
      environment: {
        ROOT_ACCESS_KEY: '${SVC_S3_ACCESS_KEY_ID}',
        ROOT_SECRET_KEY: '${SVC_S3_SECRET_ACCESS_KEY}',
      },
    },
    sandbox: {
      image: api.image,
      command: ['node', 'sandbox/main.ts', '9000'],
      volumes: ['./sandbox:/app/sandbox:ro'],
      networks: { default: { aliases: [VENDORS] } },
    },
    vendors: {
      image: 'svc-gateway-rehearsal/nginx:bookworm',
      network_mode: 'service:sandbox',
      volumes: [
        config('vendors.conf', '/etc/nginx/conf.d/vendors.conf'),
        tls('server.crt'),
        tls('server.key'),
      ],
      depends_on: ['sandbox'],
    },
    prometheus: {
      image: 'svc-gateway-rehearsal/prometheus:bookworm',
      ports: [`127.0.0.1:${PROMETHEUS_PORT}:9090`],
      volumes: [
        config('prometheus.yml', '/etc/rehearsal/prometheus.yml'),
        './deploy/prometheus/alerts.yml:/etc/rehearsal/alerts.yml:ro',
      ],
    },
  };
}

/** Writes everything below ROOM and returns the words that come before each of Compose's commands. */
export async function writeFiles(engine: Engine): Promise<readonly string[]> {
  mkdirSync(join(ROOM, 'tls'), { recursive: true });
  cpSync(join(import.meta.dirname, 'config'), join(ROOM, 'config'), { recursive: true });
  if (!existsSync(join(ROOM, 'tls', 'server.crt'))) {
    await makeAuthority(join(ROOM, 'tls'));
    await makeCertificate(join(ROOM, 'tls'));
  }
  const text = readFileSync(COMPOSE_FILE, 'utf8');
  const real = engine.knowsNames ? COMPOSE_FILE : join(ROOM, COMPOSE_FILE);
  if (!engine.knowsNames) writeFileSync(real, text.replace(/^name: .*\n/m, ''));
  writeFileSync(join(ROOM, 'override.yml'), JSON.stringify(buildOverride(text), null, 2));
  if (!existsSync(ENV_FILE))
    writeFileSync(ENV_FILE, fillIn(readFileSync('.env.example', 'utf8')), { mode: 0o600 });
  const { temporal, worker } = readServices(text);
  if (temporal === undefined || worker === undefined)
    throw new Error(`${COMPOSE_FILE} has no temporal or no worker.`);
  const overrides = [join(ROOM, 'override.yml')];
  const add = (file: string, services: Readonly<Record<string, unknown>>): void => {
    const path = join(ROOM, file);
    writeFileSync(path, JSON.stringify({ services }, null, 2));
    overrides.push(path);
  };
  if (IS_TEMPORAL_APART) add('temporal.yml', partTemporal(temporal));
  if (IS_MEASURED) add('measured.yml', measureStage(worker));
  if (IS_SOAKED) add('soaked.yml', soakStage());
  const files = [real, ...overrides].flatMap((file) => ['--file', resolve(file)]);
  const project = ['--project-name', PROJECT, '--project-directory', resolve('.')];
  return [...engine.compose, ...project, '--env-file', resolve(ENV_FILE), ...files];
}

/** A key of the ring, as docs/operation.md tells to make one. */
export function makeRingKey(id: string): string {
  return `${id}:${randomBytes(KEY_BYTES).toString('base64url')}`;
}

/** Fills `.env.example` in as docs/operation.md says, with a bucket, and a key for each vendor. */
export function fillIn(example: string): string {
  const secret = (): string => randomBytes(KEY_BYTES).toString('hex');
  const values: Record<string, string> = {
    SVC_PUBLIC_URL: `https://${PROXY_NAME}:${PROXY_PORT}`,
    SVC_SECRET_KEYS: makeRingKey('k1'),
    SVC_S3_BUCKET: 'results',
    SVC_S3_REGION: 'us-east-1',
    SVC_S3_ENDPOINT: 'http://bucket:7070',
    SVC_S3_ACCESS_KEY_ID: 'rehearsal',
    SVC_S3_SECRET_ACCESS_KEY: secret(),
  };
  for (const { prefix } of VENDOR_FAMILIES) values[`${prefix}_API_KEY`] = `rehearsal-${prefix.toLowerCase()}`;
  const lines = example.split('\n').map((line) => {
    const [, name = ''] = /^(?:# )?([A-Z][A-Z0-9_]*)=$/.exec(line) ?? [];
    if (name.endsWith('_PASSWORD')) return `${name}=${secret()}`;
    return values[name] === undefined ? line : `${name}=${values[name]}`;
  });
  return lines.join('\n');
}

async function makeAuthority(cwd: string): Promise<void> {
  const files = ['-keyout', 'ca.key', '-out', 'ca.crt'];
  await run('openssl', ['req', '-x509', ...NEW_KEY, ...files, '-subj', '/CN=rehearsal'], { cwd });
}

/** One certificate for the proxy and the stand-in of the vendors, in the place of the one before. */
export async function makeCertificate(cwd: string): Promise<void> {
  const names = `subjectAltName=DNS:${PROXY_NAME},DNS:${VENDORS},IP:127.0.0.1`;
  const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-addext', names];
  const leaf = ['-addext', 'basicConstraints=critical,CA:FALSE', '-subj', `/CN=${PROXY_NAME}`];
  const files = ['-keyout', 'server.key', '-out', 'server.crt'];
  await run('openssl', ['req', '-x509', ...NEW_KEY, ...files, ...signed, ...leaf], { cwd });
  // nginx reads it as root; processes of the gateway read the authority's certificate as another user.
  await run('chmod', ['644', 'ca.crt', 'server.crt', 'server.key'], { cwd });
}

/** Base URLs at the stand-in, as a vendor's address is given. */
function vendorAddresses(): Record<string, string> {
  return Object.fromEntries(
    VENDOR_FAMILIES.map(({ prefix, sandboxPath }) => [
      `${prefix}_BASE_URL`,
      `https://${VENDORS}${sandboxPath}`,
    ]),
  );
}

function standbyOf(postgres: Service, name: string): unknown {
  const [, ...others] = (postgres['volumes'] as string[] | undefined) ?? [];
  return { ...postgres, volumes: [`${name}:/var/lib/postgresql/data`, ...others], scale: 0 };
}

function withOurs(service: Service, ours: { environment: object; volumes: string[] }): unknown {
  const environment = service['environment'] as object | undefined;
  const volumes = (service['volumes'] as string[] | undefined) ?? [];
  return {
    ...service,
    ...ours,
    environment: { ...environment, ...ours.environment },
    volumes: [...volumes, ...ours.volumes],
  };
}

function tls(file: string): string {
  return `./${ROOM}/tls/${file}:/etc/rehearsal/${file}:ro`;
}

function config(file: string, target: string): string {
  return `./${ROOM}/config/${file}:${target}:ro`;
}
