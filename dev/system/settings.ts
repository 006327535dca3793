// What `npm start` reads from the environment, and the environment it hands on to the parts.
import { join, resolve } from 'node:path';
import { sandboxSettings, VENDOR_FAMILIES, type VendorFamily } from './sandbox-settings.ts';

export interface StartSettings {
  dataDir: string;
  /** Where people and programs reach us: a wildcard HOST is reached on the loopback address. */
  reachableHost: string;
  port: number;
  internalPort: number;
  /** Null: any free one. */
  workerInternalPort: number | null;
  /** Servers that the environment names, and that are then not started here. */
  databaseUrl: string | null;
  temporalAddress: string | null;
  redisUrl: string | null;
  temporalNamespace: string;
  secretKeys: string | null;
  sandboxFamilies: readonly VendorFamily[];
}

export interface PartAddresses {
  databaseUrl: string;
  temporalAddress: string;
  secretKeys: string;
  sandboxUrl: string | null;
  workerInternalPort: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws one sentence about the first setting that is wrong. */
export function readSettings(env: Environment): StartSettings {
  const port = readPort(env, 'PORT', 8080);
  const internalPort = readPort(env, 'SVC_INTERNAL_PORT', 9090);
  if (port === internalPort) {
    throw new Error(`PORT and SVC_INTERNAL_PORT are both ${port}: set one of them to another number.`);
  }
  const host = env['HOST'] || '127.0.0.1';
  return {
    dataDir: resolve(env['SVC_DATA_DIR'] || '.data'),
    reachableHost: ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host,
    port,
    internalPort,
    workerInternalPort: env['SVC_WORKER_INTERNAL_PORT'] ? readPort(env, 'SVC_WORKER_INTERNAL_PORT', 0) : null,
    databaseUrl: env['DATABASE_URL'] || null,
    temporalAddress: env['TEMPORAL_ADDRESS'] || null,
    redisUrl: env['REDIS_URL'] || null,
    temporalNamespace: env['TEMPORAL_NAMESPACE'] || 'default',
    secretKeys: env['SVC_SECRET_KEYS'] || null,
    sandboxFamilies: VENDOR_FAMILIES.filter(({ prefix }) => !env[`${prefix}_API_KEY`]),
  };
}

/** Everything that was set is passed on; what was not set points at the parts that run here. */
export function partEnvironment(
  env: Environment,
  settings: StartSettings,
  parts: PartAddresses,
): NodeJS.ProcessEnv {
  const { sandboxUrl } = parts;
  return {
    ...(sandboxUrl === null ? {} : sandboxSettings(sandboxUrl, settings.sandboxFamilies)),
    ...given(env),
    PORT: String(settings.port),
    SVC_INTERNAL_PORT: String(settings.internalPort),
    SVC_WORKER_INTERNAL_PORT: String(parts.workerInternalPort),
    // There is no load balancer here that has to notice, and a Ctrl-C is waited for.
    SVC_DRAIN_SECONDS: env['SVC_DRAIN_SECONDS'] || '0',
    SVC_DATA_DIR: settings.dataDir,
    // Node keeps what it has compiled: every start but the first is about a third quicker.
    NODE_COMPILE_CACHE: env['NODE_COMPILE_CACHE'] || join(settings.dataDir, 'compile-cache'),
    SVC_SECRET_KEYS: parts.secretKeys,
    DATABASE_URL: parts.databaseUrl,
    TEMPORAL_ADDRESS: parts.temporalAddress,
  };
}

/** What is set: a setting that is empty counts as not set. */
function given(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
}

function readPort(env: Environment, name: string, fallback: number): number {
  const text = env[name];
  if (text === undefined || text === '') return fallback;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new Error(`${name} is "${text}": set it to a port number from 1 to 65535.`);
}
