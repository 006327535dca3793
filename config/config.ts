// Settings: the only reader of the environment. Parsed, bounded and frozen; every problem is named at once.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';
import { FAMILY_DEFAULTS, readFamilies, upstreamFamilies } from './families.ts';
import type { Catalog } from '../domain/catalog/catalog.ts';
import { withMargin } from '../domain/catalog/margin.ts';
import { parseCatalog } from '../domain/catalog/parse-catalog.ts';
import type { SecretKey } from '../db/secrets.ts';
import type { FamilySettings } from '../providers/settings.ts';
import type { StorageSettings } from '../storage/storage.ts';

/** Thrown by loadConfig; the message lists every problem, one per line. */
export class ConfigError extends Error {}

const integer = (fallback: number, min: number, max: number) =>
  z.coerce.number().int().min(min).max(max).default(fallback);
const url = (protocols: RegExp) => z.url({ protocol: protocols });
/** How many in how many seconds, such as `120/60`. Whole seconds: Redis would keep shorter windows for ever. */
const limit = (fallback: string) =>
  z
    .string()
    .regex(/^[1-9]\d{0,8}\/[1-9]\d{0,5}$/, 'expected points/seconds, such as 120/60')
    .default(fallback)
    .transform((text) => {
      const [points = 1, seconds = 1] = text.split('/').map(Number);
      return { points, seconds };
    });

/** A number of hops, or addresses and networks separated by commas. */
const hops = z.coerce.number().int().min(1).max(10);
const networks = z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]));
const listed = z.string().transform((text) => text.split(',').map((part) => part.trim()));
const proxies = z.union([hops, listed.pipe(networks)], 'expected 1 to 10 hops, or addresses and networks');

const SETTINGS = z.object({
  NODE_ENV: z.enum(['development', 'production', 'test']).default('development'),
  PORT: integer(8080, 0, 65_535),
  HOST: z.string().min(1).default('127.0.0.1'),
  SVC_INTERNAL_PORT: integer(9090, 0, 65_535),
  SVC_WORKER_INTERNAL_PORT: integer(9091, 0, 65_535),
  SVC_INTERNAL_HOST: z.string().min(1).default('127.0.0.1'),
  SVC_PUBLIC_URL: url(/^https?$/).optional(),
  DATABASE_URL: url(/^postgres(ql)?$/),
  SVC_DATABASE_CONNECTIONS_MAX: integer(16, 2, 200),
  TEMPORAL_ADDRESS: z.string().min(1).optional(),
  TEMPORAL_NAMESPACE: z.string().min(1).optional(),
  SVC_DATA_DIR: z.string().min(1).default('.data'),
  SVC_CATALOG: z.string().min(1).default('catalog.json'),
  SVC_PRICE_MARGIN_PERCENT: integer(0, 0, 1000),
  SVC_SECRET_KEYS: z.string().min(1),
  SVC_TASK_DEADLINE_SECONDS: integer(3600, 1, 86_400),
  SVC_RUNNING_TASKS_PER_USER: integer(20, 1, 10_000),
  SVC_WAITING_TASKS_PER_USER: integer(200, 0, 100_000),
  SVC_UPSTREAM_TIMEOUT_SECONDS: integer(120, 1, 3600),
  SVC_WORKER_GRACE_SECONDS: integer(10, 1, 3600),
  SVC_DRAIN_SECONDS: integer(5, 0, 15),
  SVC_REQUESTS_IN_FLIGHT_MAX: integer(4_000, 1, 100_000),
  SVC_OVERLOAD_DELAY_MS: integer(200, 20, 60_000),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], 'expected otlp or none').optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(/^https?$/).optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal('http/json', 'expected http/json').optional(),
  SVC_REQUEST_KEPT_DAYS: integer(7, 1, 3650),
  SVC_RESULT_URL_SECONDS: integer(3600, 60, 604_800),
  SVC_TRUSTED_PROXIES: proxies.optional(),
  REDIS_URL: url(/^rediss?$/).optional(),
  SVC_RATE_LIMIT_REQUIRE_REDIS: z.enum(['0', '1'], 'expected 0 or 1').default('0'),
  SVC_LIMIT_CHAT: limit('120/60'),
  SVC_LIMIT_CREATE: limit('60/60'),
  SVC_LIMIT_READ: limit('600/60'),
  SVC_LIMIT_UPLOAD: limit('10/60'),
  SVC_LIMIT_AUTH: limit('20/1200'),
  SVC_CHAT_LEASE_SECONDS: integer(120, 1, 86_400),
  SVC_UPLOAD_BYTES_MAX: integer(200 * 1024 * 1024, 1, 10 * 1024 ** 3),
  SVC_UPLOAD_QUOTA_BYTES: integer(1024 ** 3, 1, 1024 ** 5),
  SVC_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  SVC_S3_BUCKET: z.string().min(1).optional(),
  SVC_S3_REGION: z.string().min(1).default('us-east-1'),
  SVC_S3_ENDPOINT: url(/^https?$/).optional(),
  SVC_S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  SVC_S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
});

/** Every setting that is read, with the default as a text, or null where there is none. */
export const SETTING_DEFAULTS: ReadonlyMap<string, string | null> = new Map([
  ...Object.entries(SETTINGS.shape).map(([name, schema]): [string, string | null] => {
    const { data } = schema.safeParse(undefined);
    return [name, data === undefined ? null : writeDefault(data)];
  }),
  ...FAMILY_DEFAULTS,
]);

function writeDefault(value: string | number | string[] | { points: number; seconds: number }): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' ? `${value.points}/${value.seconds}` : String(value);
}

/** Settings that are set; an empty value counts as not set. */
type Environment = Record<string, string>;

export type Config = Readonly<ReturnType<typeof loadConfig>>;

/** Reads all settings. Throws a ConfigError that names every setting that is missing or wrong. */
export function loadConfig(env: Record<string, string | undefined> = process.env) {
  const problems: string[] = [];
  const present = withoutEmpty(env);
  const parsed = SETTINGS.safeParse(present);
  for (const issue of parsed.error?.issues ?? []) problems.push(`${issue.path.join('.')}: ${issue.message}`);
  const keyRing = readKeyRing(present['SVC_SECRET_KEYS'], problems);
  const catalog = readCatalog(present['SVC_CATALOG'] ?? 'catalog.json', problems);
  const families = readFamilies(present, catalog ? upstreamFamilies(catalog) : [], problems);
  const production = present['NODE_ENV'] === 'production';
  if (production) refuseDevelopmentSettings(present, problems);
  const storage = parsed.success ? readStorage(parsed.data, problems) : null;
  if (present['SVC_RATE_LIMIT_REQUIRE_REDIS'] === '1' && !present['REDIS_URL'])
    problems.push('REDIS_URL: required by SVC_RATE_LIMIT_REQUIRE_REDIS=1');
  if (!parsed.success || !catalog || !storage || problems.length > 0)
    throw new ConfigError(`These settings are missing or wrong:\n  ${problems.join('\n  ')}`);

  const settings = parsed.data;
  return Object.freeze({
    production,
    dataDir: settings.SVC_DATA_DIR,
    host: settings.HOST,
    port: settings.PORT,
    internalPort: settings.SVC_INTERNAL_PORT,
    workerInternalPort: settings.SVC_WORKER_INTERNAL_PORT,
    internalHost: settings.SVC_INTERNAL_HOST,
    drainSeconds: settings.SVC_DRAIN_SECONDS,
    requestsInFlightMax: settings.SVC_REQUESTS_IN_FLIGHT_MAX,
    overloadDelayMs: settings.SVC_OVERLOAD_DELAY_MS,
    /** The exporter reads the other OTEL_* settings itself. */
    tracesExporter: settings.OTEL_TRACES_EXPORTER ?? (settings.OTEL_EXPORTER_OTLP_ENDPOINT ? 'otlp' : 'none'),
    /** Without it, links carry the address the API listens on. */
    publicUrl:
      settings.SVC_PUBLIC_URL?.replace(/\/$/, '') ?? `http://${reachable(settings.HOST)}:${settings.PORT}`,
    databaseUrl: settings.DATABASE_URL,
    databaseConnectionsMax: settings.SVC_DATABASE_CONNECTIONS_MAX,
    temporal: readTemporal(present),
    keyRing,
    catalog: offeredModels(withMargin(catalog, settings.SVC_PRICE_MARGIN_PERCENT), families),
    families,
    storage,
    taskDeadlineSeconds: settings.SVC_TASK_DEADLINE_SECONDS,
    runningTasksPerUserMax: settings.SVC_RUNNING_TASKS_PER_USER,
    waitingTasksPerUserMax: settings.SVC_WAITING_TASKS_PER_USER,
    upstreamTimeoutMs: settings.SVC_UPSTREAM_TIMEOUT_SECONDS * 1000,
    workerGraceSeconds: settings.SVC_WORKER_GRACE_SECONDS,
    requestKeptDays: settings.SVC_REQUEST_KEPT_DAYS,
    resultUrlSeconds: settings.SVC_RESULT_URL_SECONDS,
    /** Whose X-Forwarded-For is believed: so many hops before us, or these addresses and networks. */
    trustedProxies: settings.SVC_TRUSTED_PROXIES ?? 0,
    redisUrl: settings.REDIS_URL ?? null,
    /** Without Redis, refuse what is limited instead of counting in this process. */
    requiresRedis: settings.SVC_RATE_LIMIT_REQUIRE_REDIS === '1',
    limits: {
      chat: settings.SVC_LIMIT_CHAT,
      create: settings.SVC_LIMIT_CREATE,
      read: settings.SVC_LIMIT_READ,
      upload: settings.SVC_LIMIT_UPLOAD,
      auth: settings.SVC_LIMIT_AUTH,
    },
    chatLeaseSeconds: settings.SVC_CHAT_LEASE_SECONDS,
    uploadBytesMax: settings.SVC_UPLOAD_BYTES_MAX,
    uploadQuotaBytes: settings.SVC_UPLOAD_QUOTA_BYTES,
    logLevel: settings.SVC_LOG_LEVEL,
  });
}

/** A host as it stands in a URL; nobody can call a wildcard. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function withoutEmpty(env: Record<string, string | undefined>): Environment {
  const present: Environment = {};
  for (const [name, value] of Object.entries(env)) if (value) present[name] = value;
  return present;
}

/** All TEMPORAL_* settings of the SDK's own environment configuration: address, namespace, TLS, API key. */
function readTemporal(env: Environment) {
  const profile = loadClientConnectConfig({ overrideEnvVars: env });
  return { connectionOptions: profile.connectionOptions, namespace: profile.namespace ?? 'default' };
}

/** `id:base64url of 32 bytes`, newest first, separated by commas. */
function readKeyRing(text: string | undefined, problems: string[]): SecretKey[] {
  const ring = (text ?? '').split(',').map((part) => {
    const [id = '', encoded = ''] = part.trim().split(':');
    return { id, bytes: Buffer.from(encoded, 'base64url') };
  });
  const valid = ring.every((key) => /^[\w-]{1,40}$/.test(key.id) && key.bytes.length === 32);
  if (text !== undefined && (!valid || new Set(ring.map((key) => key.id)).size !== ring.length))
    problems.push('SVC_SECRET_KEYS: expected id:base64url-of-32-bytes[,older…] with different ids');
  return ring;
}

function readCatalog(path: string, problems: string[]): Catalog | null {
  try {
    return parseCatalog(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    problems.push(`SVC_CATALOG (${path}): ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

/** Models whose family has credentials, or one of the other families where they can be had. */
function offeredModels(catalog: Catalog, families: Record<string, FamilySettings>): Catalog {
  const offered = [...catalog.models].filter(([, { family, upstreams }]) =>
    [family, ...upstreams.map((upstream) => upstream.family)].some((name) => families[name]),
  );
  return { ...catalog, models: new Map(offered) };
}

function readStorage(settings: z.infer<typeof SETTINGS>, problems: string[]): StorageSettings | null {
  const {
    SVC_S3_BUCKET: bucket,
    SVC_S3_ACCESS_KEY_ID: accessKeyId,
    SVC_S3_SECRET_ACCESS_KEY: secret,
  } = settings;
  if (!bucket) return { kind: 'local', folder: resolve(join(settings.SVC_DATA_DIR, 'storage')) };
  if (!accessKeyId || !secret) {
    problems.push('SVC_S3_BUCKET: needs SVC_S3_ACCESS_KEY_ID and SVC_S3_SECRET_ACCESS_KEY');
    return null;
  }
  const endpoint = settings.SVC_S3_ENDPOINT;
  return {
    kind: 's3',
    bucket,
    region: settings.SVC_S3_REGION,
    accessKeyId,
    secretAccessKey: secret,
    forcePathStyle: endpoint !== undefined,
    ...(endpoint === undefined ? {} : { endpoint }),
  };
}

function refuseDevelopmentSettings(env: Environment, problems: string[]): void {
  for (const [name, value] of Object.entries(env)) {
    if (name.endsWith('_API_KEY') && value === 'sandbox')
      problems.push(`${name}: the sandbox is not for production`);
    if (name.endsWith('_BASE_URL') && value?.startsWith('http:'))
      problems.push(`${name}: production talks to vendors over https`);
  }
  if (/(^|,)\s*dev/.test(env['SVC_SECRET_KEYS'] ?? ''))
    problems.push('SVC_SECRET_KEYS: a key whose id begins with "dev" is not for production');
}
