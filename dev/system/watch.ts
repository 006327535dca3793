// Restarts programs whose sources changed: for each, the files that it imports, at any depth.
import { watch, type FSWatcher } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readModules } from '../imports.ts';
import { describeError, type Terminal } from '../terminal.ts';

export interface WatchedProgram {
  name: string;
  /** Files that start the program; the files that they import are watched too. */
  entries: readonly string[];
  /** Restarts the program. Resolves when it serves again; rejects with the reason when it does not. */
  restart: () => Promise<void>;
}

export interface Watching {
  close(): void;
}

/** Quiet time before changed files are read, because editors write a file in several steps. */
const QUIET_MS = 30;
const NAMES_SHOWN = 3;

/**
 * Watches the programs until the watch is closed. A program whose new sources cannot be parsed goes on with
 * the old ones.
 */
export function watchPrograms(programs: readonly WatchedProgram[], terminal: Terminal): Watching {
  hideExperimentalWarnings();
  const folders = new Map<string, FSWatcher>();
  const watched = programs.map((program) => ({ ...program, modules: readModules(program.entries) }));
  let isClosed = false;
  let isChecking = false;
  let events = 0;

  const watchFolders = (): void => {
    for (const { modules } of watched)
      for (const folder of new Set([...modules.keys()].map((file) => dirname(file))))
        if (!folders.has(folder)) openFolder(folders, folder, check);
  };
  const check = async (): Promise<void> => {
    events += 1;
    if (isChecking) return;
    isChecking = true;
    for (let seen = 0; seen !== events;) {
      seen = events;
      await sleep(QUIET_MS);
      if (seen !== events) continue;
      if (isClosed) return;
      await restartChanged();
      watchFolders();
    }
    isChecking = false;
  };
  const restartChanged = async (): Promise<void> => {
    const broken = new Set<string>();
    const restarts: Promise<void>[] = [];
    for (const program of watched) {
      const modules = readModules(program.entries);
      const changed = findChanged(program.modules, modules);
      if (changed.length === 0) continue;
      const errors = changed.map((file) => findSyntaxError(file, modules.get(file) ?? ''));
      for (const error of errors) if (error !== null) broken.add(error);
      if (errors.some((error) => error !== null)) continue;
      program.modules = modules;
      restarts.push(restart(program, changed, terminal));
    }
    for (const error of broken) terminal.fail(error);
    await Promise.all(restarts);
  };

  watchFolders();
  return {
    close: () => {
      isClosed = true;
      for (const watcher of folders.values()) watcher.close();
    },
  };
}

function openFolder(folders: Map<string, FSWatcher>, folder: string, onEvent: () => Promise<void>): void {
  try {
    const watcher = watch(folder, () => void onEvent());
    watcher.on('error', () => undefined);
    folders.set(folder, watcher);
  } catch {
    // The folder of an import that does not exist yet.
  }
}

async function restart({ name, restart: run }: WatchedProgram, changed: string[], terminal: Terminal) {
  const names = changed.slice(0, NAMES_SHOWN).map((file) => relative(process.cwd(), file));
  const more = changed.length > NAMES_SHOWN ? ` and ${changed.length - NAMES_SHOWN} more` : '';
  try {
    await terminal.step(`${name} restarted for ${names.join(', ')}${more}`, run);
  } catch (error) {
    terminal.fail(`${describeError(error)} It waits for the next change.`);
  }
}

/**
 * Finds files that are new to the program or have another text; removed files show in those that imported
 * them.
 */
function findChanged(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...after].filter(([file, text]) => before.get(file) !== text).map(([file]) => file);
}

/** Returns what is wrong with the text of a TypeScript file; null when it can be parsed. */
function findSyntaxError(file: string, text: string): string | null {
  if (!file.endsWith('.ts')) return null;
  try {
    stripTypeScriptTypes(text);
    return null;
  } catch (error) {
    return `${relative(process.cwd(), file)}: ${describeError(error)}`;
  }
}

/** Hides one warning: the parser is Node's own, which announces at its first use that its name may change. */
function hideExperimentalWarnings(): void {
  if (process.listenerCount('warning') === 0) return;
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') console.error(`${warning.name}: ${warning.message}`);
  });
}
