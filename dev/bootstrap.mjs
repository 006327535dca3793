// Runs before every npm script: installs missing dependencies, then runs the given script, if any, on this
// project's Node version. Plain JavaScript, because the Node that runs this file may be too old for more.
import { spawn, spawnSync } from 'child_process';
import { createHash } from 'crypto';
import * as fs from 'fs';
import { constants, tmpdir } from 'os';
import { join } from 'path';
import { fileURLToPath } from 'url';

const PROJECT_DIR = fileURLToPath(new URL('..', import.meta.url));
const NODE_MAJOR_MIN = 20;
const SCRIPT_NODE_MAJOR = 24;
const INSTALL_BYTES = 1.5e9;
const LOCK_AGE_MS_MAX = 20 * 60 * 1000;
const PROGRESS_EVERY_MS = 15000;
const STAMP_FILE = join(PROJECT_DIR, 'node_modules', '.installed-from');

let child;
let interruptedBy;
// A Ctrl-C reaches all programs of the terminal's group: this process waits until the child ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    interruptedBy = signal;
    if (child !== undefined) child.kill(signal);
  });
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = interruptedBy === undefined ? 1 : exitCodeOf(null, interruptedBy);
});

async function main() {
  if (majorOf(process.versions.node) < NODE_MAJOR_MIN) {
    throw new Error(
      `Node ${NODE_MAJOR_MIN} or newer is needed to begin, this is ${process.versions.node}: install it from your system's packages or nodejs.org.`,
    );
  }
  const [script, ...args] = process.argv.slice(2);
  if (!isInstalled()) await installOnce();
  if (script !== undefined) await runScript(script, args);
}

function isInstalled() {
  const folder = join(PROJECT_DIR, 'node_modules');
  // A link leads to the packages of another checkout: they are used, and not replaced from here.
  if (fs.existsSync(folder) && fs.lstatSync(folder).isSymbolicLink()) return true;
  const installed = changedAt(join(folder, '.package-lock.json'));
  if (installed === undefined) return false;
  // A checkout renews the date of an unchanged file, so the content counts as well.
  return (
    installed >= changedAt(join(PROJECT_DIR, 'package-lock.json')) || readOr(STAMP_FILE, '') === lockDigest()
  );
}

/** Installs once: a second run on a fresh clone waits until the first has installed. */
async function installOnce() {
  const lock = join(tmpdir(), `svc-gateway-install-${userId()}-${digest(PROJECT_DIR)}`);
  let told = false;
  while (!takeLock(lock)) {
    if (!told) console.log('Another run is installing the dependencies; waiting for it.');
    told = true;
    await sleep(500);
    if (interruptedBy !== undefined) throw new Error('Interrupted.');
  }
  try {
    if (!isInstalled()) await install();
  } finally {
    fs.rmSync(lock, { recursive: true, force: true });
  }
}

function takeLock(lock) {
  const owner = join(lock, 'pid');
  try {
    fs.mkdirSync(lock);
    fs.writeFileSync(owner, String(process.pid));
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw explainWriteError(error);
  }
  const ageMs = Date.now() - (changedAt(lock) || 0);
  const pid = Number(readOr(owner, '0'));
  // Between making the folder and writing the pid there is a moment without one.
  const isAbandoned = pid > 0 ? !isAlive(pid) : ageMs > 5000;
  if (isAbandoned || ageMs > LOCK_AGE_MS_MAX) {
    // Renaming succeeds for one of several that find it abandoned at once.
    const aside = `${lock}-${process.pid}`;
    try {
      fs.renameSync(lock, aside);
      fs.rmSync(aside, { recursive: true, force: true });
    } catch {
      // Another run was quicker.
    }
  }
  return false;
}

async function install() {
  const { bavail, bsize } = fs.statfsSync(PROJECT_DIR);
  if (bavail * bsize < INSTALL_BYTES) {
    throw new Error(
      `Too little disk space: installing the dependencies needs about ${INSTALL_BYTES / 1e9} GB, ${PROJECT_DIR} has ${((bavail * bsize) / 1e9).toFixed(1)} GB free.`,
    );
  }
  console.log('Installing the dependencies with npm ci (once; usually 20 to 90 seconds).');
  const startedAt = Date.now();
  const progress = setInterval(() => {
    console.log(`Still installing, ${Math.round((Date.now() - startedAt) / 1000)} s.`);
  }, PROGRESS_EVERY_MS);
  // The tools that bring everything up are development dependencies, whatever NODE_ENV says, and the
  // pinned Node is put in place by its package's install script.
  const args = [
    'ci',
    '--include=dev',
    '--ignore-scripts=false',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const npm = process.env.npm_execpath;
  child =
    npm !== undefined && /\.c?js$/.test(npm)
      ? spawn(process.execPath, [npm, ...args], { cwd: PROJECT_DIR, stdio: ['ignore', 'pipe', 'pipe'] })
      : spawn('npm', args, { cwd: PROJECT_DIR, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk) => (output = (output + chunk).slice(-8000));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const { code, error } = await ended(child);
  child = undefined;
  clearInterval(progress);
  if (interruptedBy !== undefined)
    throw new Error('Interrupted while installing; the next run begins again.');
  if (code !== 0) {
    // npm ends some messages with the manual page of the command, which hides the message itself.
    const [message] = output.split('npm error Clean install a project');
    const lines = message.trim().split('\n').slice(-12).join('\n');
    throw new Error(
      `The dependencies could not be installed${error ? ` (${error.message})` : ''}; check the network and the npm registry setting, then try again.\n${lines}`,
    );
  }
  fs.writeFileSync(STAMP_FILE, lockDigest());
}

async function runScript(script, args) {
  if (interruptedBy !== undefined) throw new Error('Interrupted.');
  child = spawn(findNode(), [join(PROJECT_DIR, script), ...args], { stdio: 'inherit' });
  const watch = watchParent();
  const { code, signal, error } = await ended(child);
  clearInterval(watch);
  if (error) throw error;
  process.exitCode = exitCodeOf(code, signal);
}

function findNode() {
  const pinned = join(
    PROJECT_DIR,
    'node_modules',
    '.bin',
    process.platform === 'win32' ? 'node.cmd' : 'node',
  );
  if (spawnSync(pinned, ['--version']).status === 0) return pinned;
  if (majorOf(process.versions.node) >= SCRIPT_NODE_MAJOR) return process.execPath;
  throw new Error(
    `The pinned Node ${SCRIPT_NODE_MAJOR} is missing from node_modules: run "npm ci --ignore-scripts=false", or use Node ${SCRIPT_NODE_MAJOR} yourself.`,
  );
}

/** Notices that npm or the shell between is gone, which sends no signal here when it is killed. */
function watchParent() {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const before = callers();
  const watch = setInterval(() => {
    if (callers() === before) return;
    clearInterval(watch);
    if (child !== undefined) child.kill('SIGTERM');
  }, 500);
  return watch;
}

/** The parent process, and npm behind it where the parent is only npm's shell. */
function callers() {
  const parent = process.ppid;
  const isShell = readOr(`/proc/${parent}/cmdline`, '').includes('bootstrap.mjs');
  const stat = isShell ? readOr(`/proc/${parent}/stat`, '') : '';
  const [, npm = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return `${parent} ${npm}`;
}

function ended(running) {
  return new Promise((resolve) => {
    running.once('error', (error) => resolve({ code: 1, signal: null, error }));
    running.once('close', (code, signal) => resolve({ code, signal }));
  });
}

function exitCodeOf(code, signal) {
  return signal ? 128 + constants.signals[signal] : code;
}

function explainWriteError(error) {
  if (error.code === 'ENOSPC') return new Error('The disk is full: make room, then try again.');
  return new Error(`Cannot write to the folder for temporary files: ${error.message}.`);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function changedAt(file) {
  return fs.existsSync(file) ? fs.statSync(file).mtimeMs : undefined;
}

function readOr(file, otherwise) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}

function lockDigest() {
  return digest(fs.readFileSync(join(PROJECT_DIR, 'package-lock.json')));
}

function digest(content) {
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}

function userId() {
  return process.getuid === undefined ? 'user' : process.getuid();
}

function majorOf(version) {
  return Number(version.split('.')[0]);
}

function sleep(delayMs) {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
