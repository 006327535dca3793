// Finds a Temporal command line program, or fetches one: from the vendor, or by building it with Go.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { arch, homedir, platform } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeLock, type Lock } from '../lock.ts';

export interface BinaryOptions {
  log: (message: string) => void;
  /** Folder for fetched copies. Default: the user's cache folder. */
  cacheDir?: string;
  /** Signal that ends a download or a build under way. */
  signal?: AbortSignal;
}

const VERSION = '1.5.1';
/** Older servers are refused: no test runs on them. */
const SERVER_VERSION_MIN: readonly [number, number] = [1, 28];
const CONNECT_TIMEOUT_MS = 10_000;
const DOWNLOAD_TIMEOUT_MS = 300_000;
const PROGRESS_EVERY_MS = 15_000;

/** Returns the path of a program that runs on this machine. */
export async function ensureTemporalBinary(options: BinaryOptions): Promise<string> {
  if (isUsable('temporal')) return 'temporal';
  const cacheDir = options.cacheDir ?? defaultCacheDir();
  const cached = join(cacheDir, 'temporal');
  if (isUsable(cached)) return cached;
  const lock = await waitForLock(cacheDir, options);
  try {
    // Another run may have fetched it while this one waited.
    const found = isUsable(cached) || (await fetchInto(cacheDir, cached, options));
    if (found) return cached;
  } finally {
    lock.release();
  }
  if (isAborted(options.signal)) throw new Error('Interrupted while fetching Temporal.');
  throw new Error(
    `Temporal is missing and could be neither downloaded nor built: set TEMPORAL_ADDRESS to a running server, or install the temporal command line program, or install Go 1.25 or newer (it builds Temporal here, about 3 minutes).`,
  );
}

/** Waits for the lock of the cache, so that simultaneous runs do not all build the same program. */
async function waitForLock(cacheDir: string, { log, signal }: BinaryOptions): Promise<Lock> {
  try {
    mkdirSync(cacheDir, { recursive: true });
  } catch (error) {
    throw new Error(
      `Cannot make the cache folder (${reasonOf(error)}): set XDG_CACHE_HOME to another folder.`,
      {
        cause: error,
      },
    );
  }
  for (let waits = 0; ; waits += 1) {
    const lock = takeLock(join(cacheDir, 'lock'));
    if (typeof lock !== 'number') return lock;
    if (waits === 0) log('another run is fetching Temporal; waiting for it');
    await sleep(500, undefined, signal === undefined ? {} : { signal });
  }
}

async function fetchInto(cacheDir: string, cached: string, options: BinaryOptions): Promise<boolean> {
  const workDir = join(cacheDir, 'new');
  // Removes what a killed run left behind.
  rmSync(workDir, { recursive: true, force: true });
  mkdirSync(workDir);
  try {
    const fetched = (await download(workDir, options)) ?? (await build(workDir, options));
    // Renaming makes it appear whole, in one step.
    if (fetched !== undefined) renameSync(fetched, cached);
    return fetched !== undefined;
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
}

function defaultCacheDir(): string {
  const base = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(base, 'svc-gateway', `temporal-${VERSION}`);
}

/**
 * Whether the program's version is new enough; it prints "temporal version 1.5.1 (Server 1.29.1, UI
 * 2.42.1)".
 */
function isUsable(command: string): boolean {
  const { status, stdout } = spawnSync(command, ['--version'], { encoding: 'utf8', timeout: 20_000 });
  if (status !== 0) return false;
  const [, major, minor] = /Server (\d+)\.(\d+)/.exec(stdout) ?? [];
  const [majorMin, minorMin] = SERVER_VERSION_MIN;
  return Number(major) > majorMin || (Number(major) === majorMin && Number(minor) >= minorMin);
}

async function download(workDir: string, { log, signal }: BinaryOptions): Promise<string | undefined> {
  const systems: Partial<Record<string, string>> = { linux: 'linux', darwin: 'darwin' };
  const processors: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
  const system = systems[platform()];
  const processor = processors[arch()];
  if (system === undefined || processor === undefined) return undefined;
  const asked = `https://temporal.download/cli/v${VERSION}?platform=${system}&arch=${processor}&format=tar.gz`;
  const release = `https://github.com/temporalio/cli/releases/download/v${VERSION}/temporal_cli_${VERSION}_${system}_${processor}.tar.gz`;
  log(`downloading the Temporal server ${VERSION} (about 100 MB)`);
  for (const find of [() => askForArchive(asked), () => Promise.resolve(release)]) {
    try {
      return await fetchArchive(await find(), workDir, signal);
    } catch (error) {
      if (isAborted(signal)) return undefined;
      log(`that source did not answer (${reasonOf(error)})`);
    }
  }
  return undefined;
}

/** Asks the vendor for the address of the archive for this system. */
async function askForArchive(address: string): Promise<string> {
  const response = await fetch(address, { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const answer: unknown = await response.json();
  if (typeof answer === 'object' && answer !== null && 'archiveUrl' in answer) {
    if (typeof answer.archiveUrl === 'string') return answer.archiveUrl;
  }
  throw new Error('unknown answer');
}

async function fetchArchive(address: string, workDir: string, signal?: AbortSignal): Promise<string> {
  const abort = new AbortController();
  const ending = AbortSignal.any(signal === undefined ? [abort.signal] : [abort.signal, signal]);
  const connecting = setTimeout(() => abort.abort(new Error('no connection')), CONNECT_TIMEOUT_MS);
  const whole = setTimeout(() => abort.abort(new Error('too slow')), DOWNLOAD_TIMEOUT_MS);
  try {
    const response = await fetch(address, { signal: ending });
    clearTimeout(connecting);
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
    const archive = join(workDir, 'archive.tar.gz');
    await pipeline(Readable.fromWeb(response.body), createWriteStream(archive), { signal: ending });
    const unpacked = spawnSync('tar', ['-xzf', archive, '-C', workDir, 'temporal']);
    const binary = join(workDir, 'temporal');
    if (unpacked.status !== 0 || !existsSync(binary)) throw new Error('damaged archive');
    chmodSync(binary, 0o755);
    if (!isUsable(binary)) throw new Error('the program does not run here');
    return binary;
  } finally {
    clearTimeout(connecting);
    clearTimeout(whole);
  }
}

async function build(workDir: string, { log, signal }: BinaryOptions): Promise<string | undefined> {
  if (isAborted(signal) || spawnSync('go', ['version']).status !== 0) return undefined;
  log(`building the Temporal server ${VERSION} with Go (once, about 3 minutes on 2 cores)`);
  const startedAt = Date.now();
  const progress = setInterval(() => {
    log(`still building Temporal, ${Math.round((Date.now() - startedAt) / 1000)} s`);
  }, PROGRESS_EVERY_MS);
  try {
    const compiler = spawn('go', ['install', `github.com/temporalio/cli/cmd/temporal@v${VERSION}`], {
      env: { ...process.env, GOBIN: workDir },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // SIGINT also ends the compilers that the build runs.
    signal?.addEventListener('abort', () => compiler.kill('SIGINT'), { once: true });
    let output = '';
    compiler.stderr.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-2000)));
    const [code] = await once(compiler, 'close');
    const binary = join(workDir, 'temporal');
    if (code === 0 && isUsable(binary)) return binary;
    if (isAborted(signal)) return undefined;
    log(`Go could not build it:\n${output.trim().split('\n').slice(-5).join('\n')}`);
    return undefined;
  } finally {
    clearInterval(progress);
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
