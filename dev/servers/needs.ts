// Which servers a run of tests needs, read off what its files import: a file that touches none starts none.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

export type ServerName = 'postgres' | 'temporal' | 'redis';

/** A module that names the setting is taken to use the server. */
const SETTING_SERVERS: Readonly<Record<string, ServerName>> = {
  TEST_POSTGRES_URL: 'postgres',
  TEST_TEMPORAL_ADDRESS: 'temporal',
  TEST_REDIS_URL: 'redis',
};
const SETTINGS = /\bTEST_(?:POSTGRES_URL|TEMPORAL_ADDRESS|REDIS_URL)\b/g;
/** Types are gone at run time: what only they name is not loaded. */
const TYPE_IMPORTS = /^(?:import|export) type [^;]*;/gm;
const IMPORTS = /\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+\.[cm]?[jt]s)'/g;
/** The modules that give the settings to the tests, and name them for that. */
const GIVERS = import.meta.dirname;

/** The servers used by these test files or by any module they import, at any depth. */
export function findNeededServers(files: readonly string[]): Set<ServerName> {
  const needed = new Set<ServerName>();
  const seen = new Set<string>();
  const pending = files.map((file) => resolve(file));
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (seen.has(file) || dirname(file) === GIVERS) continue;
    seen.add(file);
    const text = readModule(file);
    for (const [setting] of text.matchAll(SETTINGS)) {
      const server = SETTING_SERVERS[setting];
      if (server !== undefined) needed.add(server);
    }
    if (needed.size === Object.keys(SETTING_SERVERS).length) break;
    for (const [, path = ''] of text.replaceAll(TYPE_IMPORTS, '').matchAll(IMPORTS))
      pending.push(resolve(dirname(file), path));
  }
  return needed;
}

/** Empty when there is no such file: an import inside a text, or a mistake that the test run itself reports. */
function readModule(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
