/** Brings up the parts of the whole system in the order they need each other, and takes them down again. */
import { GENERATION_QUEUE } from '../workflows/names.ts';
import { keepSecretKeys, type DataFolder } from './data-folder.ts';
import { parseDemoAccount, type DemoAccount } from './demo-account.ts';
import { keepPorts } from './servers/ports.ts';
import { postgresUrl, startPostgres } from './servers/postgres.ts';
import { runScript, startServer, waitUntilOk, type ServerScript } from './scripts.ts';
import { partEnvironment, type PartAddresses, type StartSettings } from './settings.ts';
import { supervise, type Part, type Supervised } from './supervisor.ts';
import { ensureNamespace, waitForWorker } from './servers/temporal-namespace.ts';
import { ensureTemporalBinary, startTemporal } from './servers/temporal.ts';
import type { Terminal } from './terminal.ts';

const stopOrder = ['api', 'worker', 'sandbox', 'temporal', 'postgres'] as const;
type PartName = (typeof stopOrder)[number];

const databaseName = 'gateway';
const portNames = ['postgres', 'temporal', 'temporalUi', 'sandbox', 'workerInternal'] as const;

export interface SystemOptions {
  settings: StartSettings;
  folder: DataFolder;
  env: NodeJS.ProcessEnv;
  terminal: Terminal;
  onRestart: () => void;
  onGiveUp: (error: Error) => void;
}

export interface SystemSummary {
  baseUrl: string;
  internalUrl: string;
  workerInternalUrl: string;
  sandboxUrl: string | null;
  temporalUiUrl: string | null;
  temporalAddress: string;
  databaseUrl: string;
  demo: DemoAccount;
}

export interface System {
  /** Ends when everything answers. */
  start(): Promise<SystemSummary>;
  /** Of the parts that run here; null for all others. */
  pid(name: PartName): number | null;
  /** In the order in which nobody misses what is already gone; also from half-way up. */
  stop(): Promise<void>;
  /** Without asking. */
  kill(): void;
}

interface Assembly extends SystemOptions {
  ports: Record<(typeof portNames)[number], number>;
  addresses: PartAddresses;
  /** What the parts find in their environment. */
  partEnv: NodeJS.ProcessEnv;
  ending: AbortSignal;
  /** Starts a part, and keeps it running until the system is stopped. */
  keep<Running extends Part>(name: PartName, start: () => Promise<Running>): Promise<Supervised<Running>>;
}

export function createSystem(options: SystemOptions): System {
  const ending = new AbortController();
  const pending: Promise<unknown>[] = [];
  const parts = new Map<PartName, Supervised<Part>>();

  const keep: Assembly['keep'] = async (name, start) => {
    ending.signal.throwIfAborted();
    const { terminal, onGiveUp, onRestart } = options;
    const supervising = supervise({
      name,
      start,
      warn: terminal.warn,
      onGiveUp,
      onRestart: () => {
        terminal.note(`${name} runs again`);
        onRestart();
      },
    });
    pending.push(supervising);
    const part = await supervising;
    parts.set(name, part);
    return part;
  };

  return {
    start: async () => {
      const { folder, settings, env } = options;
      const ports = await keepPorts(folder.portsFile, portNames);
      const addresses = chooseAddresses(folder, settings, ports);
      const partEnv = partEnvironment(env, settings, addresses);
      return startParts({ ...options, ports, addresses, partEnv, keep, ending: ending.signal });
    },
    pid: (name) => parts.get(name)?.pid() ?? null,
    stop: async () => {
      ending.abort(new Error('The start was interrupted.'));
      for (const part of parts.values()) part.release();
      // What is just coming up can be stopped only when it is up.
      await Promise.allSettled(pending);
      for (const part of parts.values()) part.release();
      for (const name of stopOrder) await parts.get(name)?.stop();
    },
    kill: () => {
      for (const part of parts.values()) void part.stop(0);
    },
  };
}

/** Known before anything runs, so that nothing has to wait only to learn an address. */
function chooseAddresses(
  folder: DataFolder,
  settings: StartSettings,
  ports: Assembly['ports'],
): PartAddresses {
  const embedded = { dataDir: folder.postgresDir, port: ports.postgres, database: databaseName };
  return {
    databaseUrl: settings.databaseUrl ?? postgresUrl(embedded),
    temporalAddress: settings.temporalAddress ?? `127.0.0.1:${ports.temporal}`,
    secretKeys: settings.secretKeys ?? keepSecretKeys(folder),
    sandboxUrl: settings.sandboxFamilies.length === 0 ? null : `http://127.0.0.1:${ports.sandbox}`,
    workerInternalPort: settings.workerInternalPort ?? ports.workerInternal,
  };
}

async function startParts(assembly: Assembly): Promise<SystemSummary> {
  const { settings, addresses, terminal } = assembly;
  const engine = bringUpEngine(assembly);
  const schema = bringUpDatabase(assembly).then(() =>
    terminal.step('database schema', () => runToEnd(assembly, 'migrate', 'cli/db.ts', ['migrate'])),
  );
  const account = schema.then(() =>
    terminal.step('demo account', () => runToEnd(assembly, 'demo-data', 'dev/demo-data.ts', [])),
  );
  const worker = Promise.all([schema, engine]).then(() => bringUpWorker(assembly));
  const internalUrl = `http://127.0.0.1:${settings.internalPort}`;
  const api = schema.then(() => bringUpApi(assembly, internalUrl));
  const [demoLines] = await Promise.all([account, engine, bringUpSandbox(assembly), worker, api]);
  return {
    baseUrl: `http://${settings.reachableHost}:${settings.port}`,
    internalUrl,
    workerInternalUrl: `http://127.0.0.1:${addresses.workerInternalPort}`,
    sandboxUrl: addresses.sandboxUrl,
    temporalUiUrl: settings.temporalAddress === null ? `http://127.0.0.1:${assembly.ports.temporalUi}` : null,
    temporalAddress: addresses.temporalAddress,
    databaseUrl: addresses.databaseUrl,
    demo: parseDemoAccount(demoLines),
  };
}

async function bringUpDatabase({ settings, folder, ports, terminal, keep }: Assembly): Promise<void> {
  if (settings.databaseUrl !== null) return terminal.note('PostgreSQL: the one in DATABASE_URL');
  const start = (): Promise<Part> =>
    startPostgres({
      dataDir: folder.postgresDir,
      port: ports.postgres,
      logFile: folder.logFile('postgres'),
      database: databaseName,
      log: terminal.note,
    });
  await terminal.step('PostgreSQL', () => keep('postgres', start));
}

async function bringUpEngine(assembly: Assembly): Promise<void> {
  const { settings, folder, ports, terminal, keep, ending } = assembly;
  const namespace = settings.temporalNamespace;
  if (settings.temporalAddress !== null) {
    terminal.note('Temporal: the one in TEMPORAL_ADDRESS');
    return prepareForeignEngine(settings.temporalAddress, namespace, terminal);
  }
  await terminal.step('Temporal', async () => {
    const binary = await ensureTemporalBinary({ log: terminal.note, signal: ending });
    return keep('temporal', () =>
      startTemporal({
        binary,
        port: ports.temporal,
        uiPort: ports.temporalUi,
        dataFile: folder.temporalFile,
        namespaces: [namespace],
        logFile: folder.logFile('temporal'),
        pidFile: folder.pidFile('temporal'),
        log: terminal.note,
      }),
    );
  });
}

/** Somebody else's server may be set up in ways we cannot, and need not, change. */
async function prepareForeignEngine(address: string, namespace: string, terminal: Terminal): Promise<void> {
  try {
    await ensureNamespace({ address, namespace });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    terminal.warn(`could not check the search attributes of ${address} (${reason}); going on`);
  }
}

async function bringUpSandbox(assembly: Assembly): Promise<void> {
  if (assembly.addresses.sandboxUrl === null) return;
  const port = assembly.ports.sandbox;
  const env = { ...assembly.partEnv, SANDBOX_PORT: String(port) };
  await assembly.terminal.step('sandbox', () =>
    keepServer(assembly, { name: 'sandbox', script: 'sandbox/main.ts', env, port }),
  );
}

async function bringUpWorker(assembly: Assembly): Promise<void> {
  const { settings, addresses, ending, partEnv } = assembly;
  await assembly.terminal.step('worker', async () => {
    const part = await keepServer(assembly, { name: 'worker', script: 'worker/main.ts', env: partEnv });
    // Somebody else's server may need credentials that only the worker knows how to present.
    if (settings.temporalAddress !== null) return;
    const engine = { address: addresses.temporalAddress, namespace: settings.temporalNamespace };
    if (await waitForWorker(engine, GENERATION_QUEUE, () => !ending.aborted)) return;
    throwNotReady('The worker does not begin to work.', part, ending);
  });
}

async function bringUpApi(assembly: Assembly, internalUrl: string): Promise<void> {
  await assembly.terminal.step('API', async () => {
    const part = await keepServer(assembly, { name: 'api', script: 'api/server.ts', env: assembly.partEnv });
    const isReady = await waitUntilOk(`${internalUrl}/readyz`, () => !assembly.ending.aborted);
    assembly.ending.throwIfAborted();
    if (isReady) return;
    throw new Error(
      `The API does not become ready. Its last lines:\n${part.current().lastLines().join('\n')}`,
    );
  });
}

function keepServer(assembly: Assembly, server: ServerScript): Promise<Supervised<Part>> {
  return assembly.keep(server.name, () => startServer(assembly.folder, server));
}

function runToEnd(
  assembly: Assembly,
  name: string,
  script: string,
  args: readonly string[],
): Promise<string[]> {
  const { folder, partEnv, ending } = assembly;
  ending.throwIfAborted();
  return runScript({ folder, name, script, args, env: partEnv, ending });
}

function throwNotReady(sentence: string, part: Supervised<Part>, ending: AbortSignal): never {
  ending.throwIfAborted();
  throw new Error(`${sentence} Its last lines:\n${part.current().lastLines().join('\n')}`);
}
