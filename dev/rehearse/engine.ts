// Finds the container engine and Compose on this machine, and runs their commands.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  timeoutMs?: number;
}

export interface Engine {
  /** Command words before Compose's own arguments: `docker compose`, or `docker-compose` of version 1. */
  compose: readonly string[];
  /** Version 1 refuses the name at the top of a file. */
  knowsNames: boolean;
  /** What the engine and Compose say of themselves. */
  description: string;
}

const OUTPUT_LINES_KEPT = 20;

/** The engine, or one sentence about why there is none. */
export function findEngine(): Engine | string {
  const server = ask('docker', 'version', '--format', '{{.Server.Version}}');
  if (server === null)
    return 'There is no container engine here: install Docker with Compose (on Debian: docker.io, docker-compose) and start its daemon.';
  const second = ask('docker', 'compose', 'version', '--short');
  if (second !== null)
    return describe(['docker', 'compose'], true, `Docker Engine ${server}, Compose ${second}`);
  const first = ask('docker-compose', 'version', '--short');
  if (first === null)
    return 'Docker runs, but there is no Compose here: install its plugin, or docker-compose.';
  return describe(['docker-compose'], false, `Docker Engine ${server}, Compose ${first}`);
}

/** Runs a command and returns its standard output. Throws with the last lines of it all when it fails. */
export async function run(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { cwd, env, timeoutMs } = options;
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: env ?? process.env,
    ...(cwd === undefined ? {} : { cwd }),
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  });
  let [out, all] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    all += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => (all += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) return out;
  const last = all.trim().split('\n').slice(-OUTPUT_LINES_KEPT).join('\n');
  throw new Error(`${[command, ...args.slice(0, 6)].join(' ')} … ended with ${code ?? 'a signal'}:\n${last}`);
}

function describe(compose: readonly string[], knowsNames: boolean, description: string): Engine {
  return { compose, knowsNames, description };
}

/** The first line that a command prints; null when it fails or is not there. */
function ask(command: string, ...args: string[]): string | null {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8', timeout: 20_000 });
  const [line = ''] = status === 0 ? stdout.trim().split('\n') : [];
  return line === '' ? null : line;
}
