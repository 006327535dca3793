// `npm run rehearse`: runs docker-compose.yml as production would, with two of everything.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommit, readLoad } from '../machine.ts';
import { describeError, openTerminal } from '../terminal.ts';
import { openCallers } from './callers.ts';
import { runCommands } from './commands.ts';
import { runDrills } from './drills.ts';
import { findEngine, type Engine } from './engine.ts';
import { COMPOSE_FILE, PROXY_PORT, readServices, ROOM, writeFiles } from './files.ts';
import { provideImages } from './images.ts';
import { measureImage, measureMemory } from './measure.ts';
import { IS_MEASURED } from './measured-stage.ts';
import { REHEARSAL_PAGE, writePage } from './page.ts';
import { checkPrometheus } from './prometheus.ts';
import type { Login } from './secure-account.ts';
import { IS_SOAKED } from './soaked-stage.ts';
import { soakOn } from './soak.ts';
import { openStage, type Stage } from './stage.ts';
import { measureThroughput } from './throughput.ts';
import { walk } from './walk.ts';

const ADMINISTRATOR = 'you@example.com';
const terminal = openTerminal();

process.exitCode = await main();

async function main(): Promise<number> {
  const engine = findEngine();
  if (typeof engine === 'string') {
    terminal.fail(engine);
    return 1;
  }
  const stage = openStage(await writeFiles(engine));
  const stop = (): void => void takeDown(stage).finally(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  try {
    await rehearse(engine, stage);
    return 0;
  } catch (error) {
    terminal.fail(describeError(error));
    return 1;
  } finally {
    if (process.argv.includes('--keep')) terminal.note('everything goes on running (--keep)');
    else await takeDown(stage);
  }
}

async function rehearse(engine: Engine, stage: Stage): Promise<void> {
  const [startedAt, loadBefore, commit] = [new Date(), readLoad(), readCommit(REHEARSAL_PAGE)];
  terminal.note(engine.description);
  const origins = await provideImages(imagesOf(readFileSync(COMPOSE_FILE, 'utf8')), terminal);
  await terminal.step('the image of the gateway', () => stage.compose('build', 'api'));
  await terminal.step('what an earlier rehearsal left is taken down', () => stage.down());
  await terminal.step('docker compose up', () => stage.up());
  const login = await terminal.step('the first administrator, by the documented command', () =>
    createAdministrator(stage),
  );
  const callers = openCallers(`https://localhost:${PROXY_PORT}`, join(ROOM, 'tls', 'ca.crt'));
  const { account, proven, missed } = await terminal.step('every route once, through the proxy', () =>
    walk(callers, login),
  );
  const commanded = await terminal.step('commands of docs/operation.md', () => runCommands(stage));
  const watched = await terminal.step('Prometheus', checkPrometheus);
  const image = await measureImage();
  const memory = await measureMemory(stage);
  const own = readServices(readFileSync(COMPOSE_FILE, 'utf8'))['api']?.image ?? '';
  const throughput = IS_MEASURED
    ? await terminal.step('throughput of one of each, and of two', () =>
        measureThroughput(stage, callers, account),
      )
    : null;
  const soaked = IS_SOAKED ? await terminal.step('soak', () => soakOn(stage, terminal)) : null;
  // Drills want the limits as they are delivered.
  const drills =
    IS_MEASURED || IS_SOAKED || process.argv.includes('--no-drills')
      ? []
      : await runDrills(stage, callers, account, own, terminal);
  const { asked } = callers;
  const run = { command: commandOf(process.env), startedAt, loadBefore, commit };
  const facts = {
    ...run,
    engine,
    origins,
    proven: [...proven, commanded],
    asked,
    missed,
    watched,
    image,
    memory,
    throughput,
    soaked,
    drills,
  };
  terminal.block(writePage(facts));
  terminal.note(`written to ${REHEARSAL_PAGE}`);
  const bad = [
    ...missed.map((route) => `${route} was not asked`),
    ...(throughput?.problems ?? []),
    ...(soaked?.report.problems ?? []),
    ...drills.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`)),
  ];
  if (bad.length > 0) throw new Error(bad.join('\n'));
}

/** What was typed, as the page repeats it. */
function commandOf(env: NodeJS.ProcessEnv): string {
  const words = process.argv.slice(2);
  const settings = Object.entries(env).flatMap(([name, value]) => {
    if (name === 'REHEARSE_DRILLS') return [`${name}='${value}'`];
    return IS_SOAKED && name.startsWith('SOAK_') ? [`${name}=${value}`] : [];
  });
  return [...settings, 'npm run rehearse', ...(words.length === 0 ? [] : ['--', ...words])].join(' ');
}

/** The images that docker-compose.yml and the Dockerfile name, without the gateway's own. */
function imagesOf(text: string): string[] {
  const own = readServices(text)['api']?.image;
  const named = Object.values(readServices(text)).map(({ image }) => image);
  const bases = [...readFileSync('Dockerfile', 'utf8').matchAll(/^FROM (\S+)/gm)].map(
    ([, base = '']) => base,
  );
  return [...new Set([...bases, ...named])].filter((image) => image !== own);
}

/** What docs/operation.md tells an operator to run. */
async function createAdministrator(stage: Stage): Promise<Login> {
  const said = await stage.compose(
    'run',
    '--rm',
    '-T',
    'migrate',
    'node',
    'cli/admin.ts',
    'create',
    ADMINISTRATOR,
  );
  const [, password] = /^password\s+(\S+)/m.exec(said) ?? [];
  if (password === undefined) throw new Error(`The command for the first administrator said: ${said}`);
  return { email: ADMINISTRATOR, password };
}

async function takeDown(stage: Stage): Promise<void> {
  await terminal.step('docker compose down', () => stage.down());
}
