// `npm start`: brings the whole gateway up on this machine, keeps it running, and takes it down again. With
// `--watch`, as `npm run dev` calls it, each program is restarted when its sources change.
import { globSync } from 'node:fs';
import { buildConsole } from '../console/build.ts';
import { openDataFolder, type DataFolder } from './system/data-folder.ts';
import { isPortInUse } from './servers/ports.ts';
import { consoleFolder, readSettings, type StartSettings } from './system/settings.ts';
import { writeSummary } from './system/summary.ts';
import { createSystem, type System } from './system/system.ts';
import type { SystemSummary } from './system/parts.ts';
import { describeError, openTerminal } from './terminal.ts';
import { PROGRAMS, type ProgramName } from './system/scripts.ts';
import { watchPrograms, type Watching } from './system/watch.ts';

const terminal = openTerminal();
/**
 * Time in which signals count as one: a Ctrl-C may arrive from the terminal, from npm, and through the
 * bootstrap.
 */
const SAME_SIGNAL_MS = 1_000;
const INTERRUPTED_CODE = 130;
const isWatching = process.argv.includes('--watch');

process.exit(await main());

async function main(): Promise<number> {
  const startedAt = performance.now();
  const ending = Promise.withResolvers<Error | 'interrupted'>();
  let system: System | undefined;
  watchSignals(
    () => ending.resolve('interrupted'),
    () => system?.kill(),
  );
  let folder: DataFolder | undefined;
  let watching: Watching | undefined;
  try {
    const settings = readSettings(process.env);
    folder = await openDataFolder(settings.dataDir, terminal.warn);
    await refuseTakenPorts(settings);
    let describe = (): void => undefined;
    system = createSystem({
      settings,
      folder,
      env: process.env,
      terminal,
      onRestart: () => describe(),
      onGiveUp: ending.resolve,
      waitsForRestart: isWatching,
    });
    const started = await Promise.race([system.start(), ending.promise]);
    if (started === 'interrupted' || started instanceof Error) return finish(started);
    describe = describer(folder, settings, started, system);
    describe();
    const seconds = (performance.now() - startedAt) / 1000;
    terminal.block(await writeSummary(started, settings, seconds));
    if (isWatching) watching = await watchSystem(system, settings);
    return finish(await ending.promise);
  } catch (error) {
    terminal.fail(describeError(error));
    return 1;
  } finally {
    watching?.close();
    folder?.removeDescription();
    if (system !== undefined) {
      terminal.note('stopping');
      await system.stop();
      terminal.note('stopped; the next start finds the data again');
    }
    folder?.release();
  }
}

/**
 * Watches the sources of the programs, and the catalogue, which a program reads at its start like its
 * sources. The console is built anew when its sources change, and its open pages load the build.
 */
async function watchSystem(system: System, settings: StartSettings): Promise<Watching> {
  const catalog = process.env['SVC_CATALOG'] || 'catalog.json';
  const programs = Object.entries(PROGRAMS).map(([name, file]) => ({
    name,
    entries: name === 'sandbox' ? [file] : [file, catalog],
    restart: () => system.restart(name as ProgramName),
  }));
  const build = async (): Promise<void> => {
    await buildConsole(consoleFolder(settings), { isRelease: false });
  };
  await build();
  const styles = globSync('console/style/*.css');
  const console = { name: 'console', entries: ['console/app/main.tsx', ...styles], restart: build };
  terminal.note('watching the sources: a program whose sources change is restarted');
  return watchPrograms([...programs, console], terminal);
}

function finish(reason: Error | 'interrupted'): number {
  if (reason === 'interrupted') return INTERRUPTED_CODE;
  terminal.fail(describeError(reason));
  return 1;
}

function watchSignals(stop: () => void, force: () => void): void {
  let firstAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      firstAt ??= performance.now();
      if (performance.now() - firstAt < SAME_SIGNAL_MS) return stop();
      terminal.warn('stopping by force');
      force();
      setTimeout(() => process.exit(INTERRUPTED_CODE), 300);
    });
  }
}

async function refuseTakenPorts(settings: StartSettings): Promise<void> {
  const ports = { PORT: settings.port, SVC_INTERNAL_PORT: settings.internalPort };
  for (const [name, port] of Object.entries(ports)) {
    if (await isPortInUse(port)) {
      throw new Error(`Port ${port} is in use by another program: set ${name} to a free port.`);
    }
  }
}

/** Writes the description that scripts read, with the current pids. */
function describer(
  folder: DataFolder,
  settings: StartSettings,
  summary: SystemSummary,
  system: System,
): () => void {
  const { demo, ...addresses } = summary;
  return () => {
    try {
      folder.writeDescription({
        ...addresses,
        redisUrl: settings.redisUrl,
        ...demo,
        pids: {
          api: system.pid('api'),
          worker: system.pid('worker'),
          temporal: system.pid('temporal'),
          postgres: system.pid('postgres'),
          redis: null,
          sandbox: system.pid('sandbox'),
        },
      });
    } catch (error) {
      terminal.warn(describeError(error));
    }
  };
}
