// Reads the settings of `npm start`, and builds the environment of the parts.
import { join, resolve } from 'node:path';
import { sandboxSettings, VENDOR_FAMILIES, type VendorFamily } from './sandbox-settings.ts';

export interface StartSettings {
  dataDir: string;
  /** Host under which the gateway is reached: for a wildcard HOST, the loopback address. */
  reachableHost: string;
  port: number;
  internalPort: number;
  /** Port of the worker's internal listener; null for any free one. */
  workerInternalPort: number | null;
  /** Servers that the environment names, which are not started here; null to start them. */
  databaseUrl: string | null;
  temporalAddress: string | null;
  redisUrl: string | null;
  temporalNamespace: string;
  secretKeys: string | null;
  sandboxFamilies: readonly VendorFamily[];
}

export interface PartAddresses {
  /** Of the user who owns the tables. */
  databaseUrl: string;
  /** Of the user that the programs run as; null where that is the same one. */
  databaseProcessUrl: string | null;
  temporalAddress: string;
  /** Null where Temporal is not started here. */
  temporalUiUrl: string | null;
  secretKeys: string;
  sandboxUrl: string | null;
  workerInternalPort: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the settings. Throws one sentence about the first one that is wrong. */
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

/** Where the console is built into, unless the environment names a folder. */
export function consoleFolder({ dataDir }: Pick<StartSettings, 'dataDir'>): string {
  return join(dataDir, 'console');
}

/** Passes on everything that is set; what is not set points at the parts that run here. */
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
    // No load balancer has to notice the stop here, and a person waits for it after a Ctrl-C.
    SVC_DRAIN_SECONDS: env['SVC_DRAIN_SECONDS'] || '0',
    SVC_DATA_DIR: settings.dataDir,
    SVC_CONSOLE_DIR: env['SVC_CONSOLE_DIR'] || consoleFolder(settings),
    // Node caches compiled code: every start but the first is about a third quicker.
    NODE_COMPILE_CACHE: env['NODE_COMPILE_CACHE'] || join(settings.dataDir, 'compile-cache'),
    // As in the Dockerfile, which says why.
    MALLOC_TRIM_THRESHOLD_: env['MALLOC_TRIM_THRESHOLD_'] || '131072',
    SVC_SECRET_KEYS: parts.secretKeys,
    DATABASE_URL: parts.databaseProcessUrl ?? parts.databaseUrl,
    ...(parts.databaseProcessUrl === null ? {} : { SVC_DATABASE_OWNER_URL: parts.databaseUrl }),
    TEMPORAL_ADDRESS: parts.temporalAddress,
    ...(parts.temporalUiUrl === null ? {} : { SVC_TEMPORAL_UI_URL: parts.temporalUiUrl }),
  };
}

/** Filters the settings that are set: an empty one counts as not set. */
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
