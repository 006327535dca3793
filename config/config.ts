// Settings: the only reader of the environment. Parsed, bounded and frozen; every problem is named at once.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';
import { parseCredits } from '../domain/credits.ts';
import type { Upstream } from '../domain/catalog/upstream.ts';
import { isLoopbackUrl } from '../domain/loopback.ts';
import { findUnservable, offerModels, readCatalog } from './catalog.ts';
import { listedUpstreams, readFamilies, variableOf, type Family } from './families.ts';
import { SETTING_MEANINGS, SETTINGS, type Settings } from './settings.ts';
import { mayUseHttp } from './upstreams.ts';

const PACKAGE_FILE = new URL('../package.json', import.meta.url);
const PACKAGE = z.object({ name: z.string(), version: z.string() });

/** Thrown by loadConfig; the message lists every problem, one per line. */
export class ConfigError extends Error {}

/** Settings that are set; an empty value counts as not set. */
type Environment = Readonly<Record<string, string>>;

export type Config = Readonly<ReturnType<typeof loadConfig>>;

/** Reads all settings. Throws a ConfigError that names every setting that is missing or wrong. */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env) {
  const problems: string[] = [];
  const present = withoutEmpty(env);
  const settings = readSettings(present, problems);
  const read = readModels(present, problems);
  const isProduction = present['NODE_ENV'] === 'production';
  if (isProduction) rejectDevelopmentSettings(present, read.upstreams, problems);
  rejectIncompleteSettings(present, problems);
  if (!settings || !read.catalog || problems.length > 0)
    throw new ConfigError(`These settings are missing or wrong:\n  ${problems.join('\n  ')}`);
  const { catalog, families } = read;
  const temporal = readTemporal(present);
  const { offered, withheld } = offerModels(catalog, families, settings.SVC_PRICE_MARGIN_PERCENT);
  return Object.freeze({
    ...describeProcess(settings),
    ...describeWork(settings),
    ...describeLimits(settings),
    temporal,
    catalog: offered,
    /** Models that have a key and cannot be served with it all the same. */
    withheldModels: withheld,
    families,
    about: describeAbout(settings, families, temporal),
    storage: describeStorage(settings),
  });
}

/** The catalogue with the settings of its vendors. A null catalogue: why is added to `problems`. */
function readModels(env: Environment, problems: string[]) {
  const overlay = env['SVC_CATALOG_OVERLAY'] ?? null;
  const read = readCatalog({ catalog: env['SVC_CATALOG'] ?? 'catalog.json', overlay }, problems);
  const upstreams = read ? listedUpstreams(read.catalog) : [];
  const families = readFamilies(env, upstreams, problems);
  const unservable = read ? findUnservable(read, families, env['NODE_ENV'] === 'production') : [];
  const file = overlay === null ? 'SVC_CATALOG' : `SVC_CATALOG_OVERLAY (${overlay})`;
  problems.push(...unservable.map((problem) => `${file}: ${problem}`));
  return { catalog: read?.catalog ?? null, families, upstreams };
}

function describeProcess(settings: Settings) {
  return {
    production: settings.NODE_ENV === 'production',
    dataDir: settings.SVC_DATA_DIR,
    consoleDir: resolve(settings.SVC_CONSOLE_DIR),
    host: settings.HOST,
    port: settings.PORT,
    internalPort: settings.SVC_INTERNAL_PORT,
    workerInternalPort: settings.SVC_WORKER_INTERNAL_PORT,
    internalHost: settings.SVC_INTERNAL_HOST,
    /** Without the setting, links carry the address the API listens on. */
    publicUrl:
      settings.SVC_PUBLIC_URL?.replace(/\/$/, '') ??
      `http://${reachableHost(settings.HOST)}:${settings.PORT}`,
    /** Whose X-Forwarded-For is believed: so many hops before us, or these addresses and networks. */
    trustedProxies: settings.SVC_TRUSTED_PROXIES ?? 0,
    /** The exporter reads the other OTEL_* settings itself. */
    tracesExporter: settings.OTEL_TRACES_EXPORTER ?? (settings.OTEL_EXPORTER_OTLP_ENDPOINT ? 'otlp' : 'none'),
    databaseUrl: settings.DATABASE_URL,
    databaseOwnerUrl: settings.SVC_DATABASE_OWNER_URL ?? settings.DATABASE_URL,
    databaseConnectionsMax: settings.SVC_DATABASE_CONNECTIONS_MAX,
    redisUrl: settings.REDIS_URL ?? null,
    keyRing: settings.SVC_SECRET_KEYS,
    logLevel: settings.SVC_LOG_LEVEL,
    drainSeconds: settings.SVC_DRAIN_SECONDS,
    workerGraceSeconds: settings.SVC_WORKER_GRACE_SECONDS,
  };
}

/** What a page may know without a login. */
function describeAbout(
  settings: Settings,
  families: Readonly<Record<string, Family>>,
  temporal: { namespace: string },
) {
  const { name, version } = PACKAGE.parse(JSON.parse(readFileSync(PACKAGE_FILE, 'utf8')));
  return {
    name,
    version,
    /** Whether a vendor is reached on this machine without TLS, as only the sandbox is. */
    sandbox: Object.values(families).some(({ baseUrl }) => isLoopback(baseUrl)),
    temporalUiUrl: settings.SVC_TEMPORAL_UI_URL ?? null,
    callSecondsMax: settings.SVC_STREAM_SECONDS_MAX,
    temporalNamespace: temporal.namespace,
  };
}

function isLoopback(baseUrl: string): boolean {
  const url = URL.parse(baseUrl);
  return url !== null && isLoopbackUrl(url);
}

function describeWork(settings: Settings) {
  return {
    taskDeadlineSeconds: settings.SVC_TASK_DEADLINE_SECONDS,
    runningTasksPerUserMax: settings.SVC_RUNNING_TASKS_PER_USER,
    waitingTasksPerUserMax: settings.SVC_WAITING_TASKS_PER_USER,
    upstreamTimeoutMs: settings.SVC_UPSTREAM_TIMEOUT_SECONDS * 1000,
    requestKeptDays: settings.SVC_REQUEST_KEPT_DAYS,
    retention: {
      resultDays: settings.SVC_RETENTION_RESULT_DAYS,
      taskDays: settings.SVC_RETENTION_TASK_DAYS,
      callDays: settings.SVC_RETENTION_CALL_DAYS,
      auditDays: settings.SVC_RETENTION_AUDIT_DAYS,
    },
    resultUrlSeconds: settings.SVC_RESULT_URL_SECONDS,
    chatLeaseSeconds: settings.SVC_CHAT_LEASE_SECONDS,
    streamSecondsMax: settings.SVC_STREAM_SECONDS_MAX,
    upstreamConnectionsMax: settings.SVC_UPSTREAM_CONNECTIONS_MAX,
    /** Loss of a user on a UTC day, in micro-credits, above which the user is held; null: never. */
    lossBrake:
      settings.SVC_LOSS_BRAKE_CREDITS === undefined ? null : parseCredits(settings.SVC_LOSS_BRAKE_CREDITS),
    uploadBytesMax: settings.SVC_UPLOAD_BYTES_MAX,
    uploadQuotaBytes: settings.SVC_UPLOAD_QUOTA_BYTES,
  };
}

function describeLimits(settings: Settings) {
  return {
    limits: {
      chat: settings.SVC_LIMIT_CHAT,
      create: settings.SVC_LIMIT_CREATE,
      read: settings.SVC_LIMIT_READ,
      upload: settings.SVC_LIMIT_UPLOAD,
      webhook: settings.SVC_LIMIT_WEBHOOK,
      auth: settings.SVC_LIMIT_AUTH,
      stray: settings.SVC_LIMIT_STRAY,
    },
    chatConcurrentPerUserMax: settings.SVC_CHAT_CONCURRENT_PER_USER,
    /** Without Redis, refuse what is limited instead of counting in this process. */
    requiresRedis: settings.SVC_RATE_LIMIT_REQUIRE_REDIS === '1',
    requestsInFlightMax: settings.SVC_REQUESTS_IN_FLIGHT_MAX,
    overloadDelayMs: settings.SVC_OVERLOAD_DELAY_MS,
  };
}

/** A bucket if one is named, else a folder. */
function describeStorage(settings: Settings) {
  const bucket = settings.SVC_S3_BUCKET;
  const endpoint = settings.SVC_S3_ENDPOINT;
  if (!bucket) return { kind: 'local' as const, folder: resolve(join(settings.SVC_DATA_DIR, 'storage')) };
  return {
    kind: 's3' as const,
    bucket,
    region: settings.SVC_S3_REGION,
    accessKeyId: settings.SVC_S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: settings.SVC_S3_SECRET_ACCESS_KEY ?? '',
    forcePathStyle: endpoint !== undefined,
    ...(endpoint === undefined ? {} : { endpoint }),
  };
}

/** A host as it stands in a URL; a wildcard is no address that can be called. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function withoutEmpty(env: Readonly<Record<string, string | undefined>>): Environment {
  const present: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value) present[name] = value;
  return present;
}

/** Null when a setting is missing or wrong; which one is added to `problems`. */
function readSettings(env: Environment, problems: string[]): Settings | null {
  const { data, error } = SETTINGS.safeParse(env);
  for (const { path, message } of error?.issues ?? []) {
    const name = path.join('.');
    problems.push(env[name] === undefined ? `${name}: missing; ${meaningOf(name)}` : `${name}: ${message}`);
  }
  return data ?? null;
}

function meaningOf(name: string): string {
  return SETTING_MEANINGS.get(name) ?? 'see docs/settings.md';
}

/** All TEMPORAL_* settings of the SDK's own environment configuration: address, namespace, TLS, API key. */
function readTemporal(env: Environment) {
  const profile = loadClientConnectConfig({ overrideEnvVars: env });
  return { connectionOptions: profile.connectionOptions, namespace: profile.namespace ?? 'default' };
}

/** Settings that need each other. */
function rejectIncompleteSettings(env: Environment, problems: string[]): void {
  if (env['SVC_S3_BUCKET'] && !(env['SVC_S3_ACCESS_KEY_ID'] && env['SVC_S3_SECRET_ACCESS_KEY']))
    problems.push('SVC_S3_BUCKET: needs SVC_S3_ACCESS_KEY_ID and SVC_S3_SECRET_ACCESS_KEY');
  if (env['SVC_RATE_LIMIT_REQUIRE_REDIS'] === '1' && !env['REDIS_URL'])
    problems.push('REDIS_URL: required by SVC_RATE_LIMIT_REQUIRE_REDIS=1');
}

function rejectDevelopmentSettings(
  env: Environment,
  upstreams: readonly Upstream[],
  problems: string[],
): void {
  const overHttp = upstreams
    .filter(({ family }) => mayUseHttp(family, upstreams))
    .map(({ family }) => variableOf(family, 'BASE_URL'));
  for (const [name, value] of Object.entries(env)) {
    if (name.endsWith('_API_KEY') && value === 'sandbox')
      problems.push(`${name}: the sandbox is not for production`);
    if (name.endsWith('_BASE_URL') && value.startsWith('http:') && !overHttp.includes(name))
      problems.push(`${name}: production talks to vendors over https`);
  }
  if (/(^|,)\s*dev/.test(env['SVC_SECRET_KEYS'] ?? ''))
    problems.push('SVC_SECRET_KEYS: a key whose id begins with "dev" is not for production');
}
