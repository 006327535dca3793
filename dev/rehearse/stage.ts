// The running containers: brought up, looked at, disturbed, taken down.
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './engine.ts';
import { PROJECT } from './files.ts';

export interface Stage {
  /** Runs a command of Compose on the files of the rehearsal and returns what it prints. */
  compose: (...args: string[]) => Promise<string>;
  up: () => Promise<void>;
  down: () => Promise<void>;
  /** Name of a service's container. */
  container: (service: string) => Promise<string>;
  /** Another service stands in for this one, until all is taken down. */
  standIn: (service: string, other: string) => void;
  /** Gives a service's container these names in the network, and no others; its connections are cut. */
  rename: (service: string, ...names: string[]) => Promise<void>;
  /** Makes nginx look up the APIs again: it asks for addresses when it reads its configuration. */
  reloadProxy: () => Promise<void>;
  /** Services whose containers run. */
  running: () => Promise<string[]>;
  /** Waits until the container is healthy, or runs where it has no check. Returns the seconds it took. */
  untilHealthy: (service: string) => Promise<number>;
  /** Runs a statement as the owner of the server; rows are lines, columns are separated by `|`. */
  sql: (statement: string, database?: string) => Promise<string>;
  /** Runs a command of Temporal's command line in the gateway's namespace. */
  temporal: (...words: string[]) => Promise<string>;
}

/** The network that Compose makes for the project. */
export const NETWORK = `${PROJECT}_default`;
const HEALTHY_MS_MAX = 240_000;
const LOOK_EVERY_MS = 250;
const WATCHED = ['api', 'second-api', 'worker', 'second-worker'];

/** `words` are Compose and its files. */
export function openStage(words: readonly string[]): Stage {
  const [command = '', ...files] = words;
  const compose = (...args: string[]): Promise<string> => run(command, [...files, ...args]);
  const standIns = new Map<string, string>();
  const container = async (service: string): Promise<string> => {
    const [name] = await ask(
      [`com.docker.compose.service=${standIns.get(service) ?? service}`, 'com.docker.compose.oneoff=False'],
      '-a',
    );
    if (name === undefined) throw new Error(`There is no container of ${service}.`);
    return name;
  };
  const untilHealthy = async (service: string): Promise<number> => {
    const startedAt = performance.now();
    const format = '{{.State.Status}} {{if .State.Health}}{{.State.Health.Status}}{{else}}healthy{{end}}';
    for (;;) {
      const name = await container(service);
      const state = (await run('docker', ['inspect', '--format', format, name])).trim();
      const elapsedMs = performance.now() - startedAt;
      if (state === 'running healthy') return elapsedMs / 1000;
      if (elapsedMs > HEALTHY_MS_MAX) throw new Error(`${service} is ${state}:\n${await logsOf(name)}`);
      await sleep(LOOK_EVERY_MS);
    }
  };
  return {
    compose,
    container,
    untilHealthy,
    up: async () => {
      await compose('up', '--detach');
      for (const service of WATCHED) await untilHealthy(service);
    },
    down: async () => {
      await compose('down', '--volumes', '--timeout', '20');
      standIns.clear();
    },
    standIn: (service, other) => void standIns.set(service, other),
    rename: async (service, ...names) => {
      const name = await container(service);
      // One that is cut off already has nothing to leave.
      await run('docker', ['network', 'disconnect', NETWORK, name]).catch(() => '');
      const aliases = names.flatMap((alias) => ['--alias', alias]);
      await run('docker', ['network', 'connect', ...aliases, NETWORK, name]);
    },
    reloadProxy: async () =>
      void (await run('docker', ['exec', await container('proxy'), 'nginx', '-s', 'reload'])),
    running: () => ask([]),
    temporal: (...words) => {
      const once = ['run', '--rm', '-T', '--no-deps', '--entrypoint', 'temporal', 'temporal-namespace'];
      return compose(...once, ...words, '--namespace', 'gateway');
    },
    sql: async (statement, database = 'gateway') => {
      const psql = ['psql', '--username', 'postgres', '--dbname', database, '--tuples-only', '--no-align'];
      const name = await container('postgres');
      return (await run('docker', ['exec', name, ...psql, '--command', statement])).trim();
    },
  };
}

/** Names of the rehearsal's containers with these labels. */
async function ask(labels: readonly string[], ...flags: string[]): Promise<string[]> {
  const all = [`com.docker.compose.project=${PROJECT}`, ...labels];
  const filters = all.flatMap((label) => ['--filter', `label=${label}`]);
  const out = await run('docker', ['ps', ...flags, ...filters, '--format', '{{.Names}}']);
  return out.split('\n').filter((line) => line !== '');
}

async function logsOf(name: string): Promise<string> {
  return run('sh', ['-c', 'docker logs --tail 15 "$1" 2>&1', 'logs', name]);
}
