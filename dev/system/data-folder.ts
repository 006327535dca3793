// Opens the folder that holds everything one running system keeps. Only one system uses it at a time.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { takeLock } from '../lock.ts';
import { readCommandLine, stopLeftover } from '../processes.ts';
import { isDevelopmentServer } from '../servers/temporal.ts';

export interface DataFolder {
  path: string;
  /** Returns the path of the log of a part. */
  logFile(name: string): string;
  pidFile(name: string): string;
  postgresDir: string;
  temporalFile: string;
  portsFile: string;
  /** Writes or replaces the description that scripts read; see `removeDescription`. */
  writeDescription(content: unknown): void;
  removeDescription(): void;
  release(): void;
}

const FREE_BYTES_MIN = 300e6;

/** Takes the folder for this process, and stops what an interrupted run left running on it. */
export async function openDataFolder(path: string, warn: (message: string) => void): Promise<DataFolder> {
  // Other users may pass but not list, because PostgreSQL runs as a system user under root.
  mkdirSync(path, { recursive: true, mode: 0o711 });
  mkdirSync(join(path, 'run'), { recursive: true, mode: 0o700 });
  mkdirSync(join(path, 'logs'), { recursive: true, mode: 0o700 });
  const lock = takeLock(join(path, 'run', 'lock'), (pid) => readCommandLine(pid).includes('start.ts'));
  if (typeof lock === 'number') {
    throw new Error(
      `npm start is already running on ${path} (process ${lock}): stop it, or give this one its own SVC_DATA_DIR, PORT and SVC_INTERNAL_PORT.`,
    );
  }
  const { bavail, bsize } = statfsSync(path);
  if (bavail * bsize < FREE_BYTES_MIN) {
    lock.release();
    throw new Error(
      `Too little disk space: ${path} has ${Math.round((bavail * bsize) / 1e6)} MB free, ${FREE_BYTES_MIN / 1e6} MB are needed. Make room, or set SVC_DATA_DIR to another disk.`,
    );
  }
  const descriptionFile = join(path, 'dev.json');
  rmSync(descriptionFile, { force: true });
  const folder: DataFolder = {
    path,
    logFile: (name) => join(path, 'logs', `${name}.log`),
    pidFile: (name) => join(path, 'run', `${name}.pid`),
    postgresDir: join(path, 'postgres'),
    temporalFile: join(path, 'temporal', 'temporal.db'),
    portsFile: join(path, 'ports.json'),
    writeDescription: (content) => writePrivateFile(descriptionFile, `${JSON.stringify(content, null, 2)}\n`),
    removeDescription: () => rmSync(descriptionFile, { force: true }),
    release: () => {
      rmSync(descriptionFile, { force: true });
      lock.release();
    },
  };
  await stopLeftovers(folder, warn);
  return folder;
}

/**
 * Returns the key ring created at the first start: `id:base64url of 32 bytes`. Losing it makes stored
 * secrets unreadable.
 */
export function keepSecretKeys(folder: DataFolder): string {
  const file = join(folder.path, 'secret-keys');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  const keys = `dev-1:${randomBytes(32).toString('base64url')}`;
  writePrivateFile(file, `${keys}\n`);
  return keys;
}

async function stopLeftovers(folder: DataFolder, warn: (message: string) => void): Promise<void> {
  const ours: [name: string, belongs: (commandLine: string) => boolean][] = [
    ['api', (line) => line.includes('api/server.ts')],
    ['worker', (line) => line.includes('worker/main.ts')],
    ['sandbox', (line) => line.includes('sandbox/main.ts')],
    ['temporal', isDevelopmentServer],
  ];
  const stopped = await Promise.all(
    ours.map(async ([name, belongs]) =>
      (await stopLeftover(folder.pidFile(name), belongs)) ? name : undefined,
    ),
  );
  const names = stopped.filter((name) => name !== undefined);
  const postmaster = join(folder.postgresDir, 'cluster', 'postmaster.pid');
  if (await stopLeftover(postmaster, (line) => line.includes(folder.postgresDir), 'SIGINT'))
    names.push('postgres');
  if (names.length > 0) warn(`stopped what an earlier start had left running: ${names.join(', ')}`);
}

function writePrivateFile(file: string, content: string): void {
  const next = `${file}.new`;
  rmSync(next, { force: true });
  writeFileSync(next, content, { mode: 0o600 });
  renameSync(next, file);
}
