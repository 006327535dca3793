// Brings up each part of the system, in the order they need each other.
import { buildConsole } from '../../console/build.ts';
import { GENERATION_QUEUE } from '../../workflows/names.ts';
import { type DataFolder } from './data-folder.ts';
import { parseDemoAccount, type DemoAccount } from './demo-account.ts';
import { startPostgres } from '../servers/postgres.ts';
import { createProcessRole } from '../servers/process-role.ts';
import { runScript, startServer, waitUntilOk, type ServerScript } from './scripts.ts';
import { consoleFolder, type PartAddresses, type StartSettings } from './settings.ts';
import { type Part, type Supervised } from './supervisor.ts';
import { ensureNamespace, waitForWorker } from '../servers/temporal-namespace.ts';
import { ensureTemporalBinary, startTemporal } from '../servers/temporal.ts';
import type { Terminal } from '../terminal.ts';

export interface SystemSummary {
  baseUrl: string;
  internalUrl: string;
  workerInternalUrl: string;
  sandboxUrl: string | null;
  temporalUiUrl: string | null;
  temporalAddress: string;
  databaseUrl: string;
  databaseProcessUrl: string | null;
  demo: DemoAccount;
}

export const STOP_ORDER = ['api', 'worker', 'sandbox', 'temporal', 'postgres'] as const;
export type PartName = (typeof STOP_ORDER)[number];

export const DATABASE_NAME = 'gateway';
/** The database user that the programs run as. */
export const PROCESS_ROLE = 'svc_app';
export const PORT_NAMES = ['postgres', 'temporal', 'temporalUi', 'sandbox', 'workerInternal'] as const;

/** What the parts are started from. */
export interface Assembly {
  settings: StartSettings;
  folder: DataFolder;
  terminal: Terminal;
  ports: Record<(typeof PORT_NAMES)[number], number>;
  addresses: PartAddresses;
  /** Environment of the parts. */
  partEnv: NodeJS.ProcessEnv;
  ending: AbortSignal;
  /** Starts a part, and keeps it running until the system is stopped. */
  keep<Running extends Part>(name: PartName, start: () => Promise<Running>): Promise<Supervised<Running>>;
}

/** Starts all parts. Resolves when all of them answer. */
export async function startParts(assembly: Assembly): Promise<SystemSummary> {
  const { settings, addresses, terminal } = assembly;
  const engine = bringUpEngine(assembly);
  const page = terminal.step('console', () => buildConsole(consoleFolder(settings), { isRelease: true }));
  const schema = bringUpDatabase(assembly).then(() =>
    terminal.step('database schema', () => runToEnd(assembly, 'migrate', 'cli/db.ts', ['migrate'])),
  );
  const account = schema.then(() =>
    terminal.step('demo account', () => runToEnd(assembly, 'demo-data', 'dev/system/demo-data.ts', [])),
  );
  const worker = Promise.all([schema, engine]).then(() => bringUpWorker(assembly));
  const internalUrl = `http://127.0.0.1:${settings.internalPort}`;
  const api = schema.then(() => bringUpApi(assembly, internalUrl));
  const [demoLines] = await Promise.all([account, engine, bringUpSandbox(assembly), worker, api, page]);
  return {
    baseUrl: `http://${settings.reachableHost}:${settings.port}`,
    internalUrl,
    workerInternalUrl: `http://127.0.0.1:${addresses.workerInternalPort}`,
    sandboxUrl: addresses.sandboxUrl,
    temporalUiUrl: addresses.temporalUiUrl,
    temporalAddress: addresses.temporalAddress,
    databaseUrl: addresses.databaseUrl,
    databaseProcessUrl: addresses.databaseProcessUrl,
    demo: parseDemoAccount(demoLines),
  };
}

async function bringUpDatabase({
  settings,
  folder,
  ports,
  addresses,
  terminal,
  keep,
}: Assembly): Promise<void> {
  if (settings.databaseUrl !== null) return terminal.note('PostgreSQL: the one in DATABASE_URL');
  const start = (): Promise<Part> =>
    startPostgres({
      dataDir: folder.postgresDir,
      port: ports.postgres,
      logFile: folder.logFile('postgres'),
      database: DATABASE_NAME,
      log: terminal.note,
    });
  await terminal.step('PostgreSQL', async () => {
    await keep('postgres', start);
    await createProcessRole(addresses.databaseUrl, PROCESS_ROLE);
  });
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
        priority: 'background',
        log: terminal.note,
      }),
    );
  });
}

/** Prepares an engine that the environment names; what cannot be changed there is only reported. */
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
  await assembly.terminal.step('sandbox', () => keepServer(assembly, { name: 'sandbox', env, port }));
}

async function bringUpWorker(assembly: Assembly): Promise<void> {
  const { settings, addresses, ending, partEnv } = assembly;
  await assembly.terminal.step('worker', async () => {
    const part = await keepServer(assembly, { name: 'worker', env: partEnv });
    // A server named by the environment may need credentials that only the worker can present.
    if (settings.temporalAddress !== null) return;
    const engine = { address: addresses.temporalAddress, namespace: settings.temporalNamespace };
    if (await waitForWorker(engine, GENERATION_QUEUE, () => !ending.aborted)) return;
    throwNotReady('The worker does not begin to work.', part, ending);
  });
}

async function bringUpApi(assembly: Assembly, internalUrl: string): Promise<void> {
  await assembly.terminal.step('API', async () => {
    const part = await keepServer(assembly, { name: 'api', env: assembly.partEnv });
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
