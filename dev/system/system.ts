// Brings up the parts of the whole system in the order they need each other, and takes them down again.
import { keepSecretKeys, type DataFolder } from './data-folder.ts';
import { keepPorts } from '../servers/ports.ts';
import { postgresUrl } from '../servers/postgres.ts';
import { processUrl } from '../servers/process-role.ts';
import { waitUntilOk, type ProgramName } from './scripts.ts';
import { partEnvironment, type PartAddresses, type StartSettings } from './settings.ts';
import { supervise, type Part, type Supervised } from './supervisor.ts';
import type { Terminal } from '../terminal.ts';
import {
  DATABASE_NAME,
  PORT_NAMES,
  PROCESS_ROLE,
  STOP_ORDER,
  startParts,
  type Assembly,
  type PartName,
  type SystemSummary,
} from './parts.ts';

/** Time for a program to end before it is started anew. Work that is cut off begins again by itself. */
const RESTART_GRACE_MS = 500;
export interface SystemOptions {
  settings: StartSettings;
  folder: DataFolder;
  env: NodeJS.ProcessEnv;
  terminal: Terminal;
  onRestart: () => void;
  onGiveUp: (error: Error) => void;
  /** Whether a program that dies right after its start waits for `restart()`. Default: no. */
  waitsForRestart?: boolean;
}

export interface System {
  /** Starts all parts. Resolves when all of them answer. */
  start(): Promise<SystemSummary>;
  /** Returns the pid of a part that runs here; null for others. */
  pid(name: PartName): number | null;
  /** Stops each part before those it needs; works also when only some are up. */
  stop(): Promise<void>;
  /** Restarts one of the programs. Resolves when it serves again. */
  restart(name: ProgramName): Promise<void>;
  /** Kills every part at once. */
  kill(): void;
}

export function createSystem(options: SystemOptions): System {
  const ending = new AbortController();
  const pending: Promise<unknown>[] = [];
  const parts = new Map<PartName, Supervised<Part>>();
  let readyUrls: Partial<Record<ProgramName, string>> = {};

  const keep: Assembly['keep'] = async (name, start) => {
    ending.signal.throwIfAborted();
    const { terminal, onGiveUp, onRestart, waitsForRestart = false } = options;
    const supervising = supervise({
      name,
      start,
      warn: terminal.warn,
      onGiveUp,
      waitsForRestart,
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
      const assembly = await assemble(options, keep, ending.signal);
      const summary = await startParts(assembly);
      readyUrls = {
        api: `${summary.internalUrl}/readyz`,
        worker: `${summary.workerInternalUrl}/readyz`,
      };
      return summary;
    },
    pid: (name) => parts.get(name)?.pid() ?? null,
    restart: async (name) => {
      const part = parts.get(name);
      if (part === undefined) return;
      await part.restart(RESTART_GRACE_MS);
      const url = readyUrls[name];
      if (url === undefined || (await waitUntilOk(url, () => part.pid() !== null))) return;
      throw new Error(`${name} does not become ready.`);
    },
    stop: async () => {
      ending.abort(new Error('The start was interrupted.'));
      for (const part of parts.values()) part.release();
      // A part that is being started can be stopped only once it is up.
      await Promise.allSettled(pending);
      for (const part of parts.values()) part.release();
      for (const name of STOP_ORDER) await parts.get(name)?.stop();
    },
    kill: () => {
      for (const part of parts.values()) void part.stop(0);
    },
  };
}

async function assemble(
  options: SystemOptions,
  keep: Assembly['keep'],
  ending: AbortSignal,
): Promise<Assembly> {
  const { folder, settings, env } = options;
  const ports = await keepPorts(folder.portsFile, PORT_NAMES);
  const addresses = chooseAddresses(folder, settings, ports);
  const partEnv = partEnvironment(env, settings, addresses);
  return { ...options, ports, addresses, partEnv, keep, ending };
}

/** Chooses all addresses before anything runs, so that no part waits only to learn an address. */
function chooseAddresses(
  folder: DataFolder,
  settings: StartSettings,
  ports: Assembly['ports'],
): PartAddresses {
  const embedded = { dataDir: folder.postgresDir, port: ports.postgres, database: DATABASE_NAME };
  const databaseUrl = settings.databaseUrl ?? postgresUrl(embedded);
  return {
    databaseUrl,
    databaseProcessUrl: settings.databaseUrl === null ? processUrl(databaseUrl, PROCESS_ROLE) : null,
    temporalAddress: settings.temporalAddress ?? `127.0.0.1:${ports.temporal}`,
    temporalUiUrl: settings.temporalAddress === null ? `http://127.0.0.1:${ports.temporalUi}` : null,
    secretKeys: settings.secretKeys ?? keepSecretKeys(folder),
    sandboxUrl: settings.sandboxFamilies.length === 0 ? null : `http://127.0.0.1:${ports.sandbox}`,
    workerInternalPort: settings.workerInternalPort ?? ports.workerInternal,
  };
}
