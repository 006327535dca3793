// Finds the servers that a run of tests needs, by what its files import: a file that uses none starts none.
import { dirname } from 'node:path';
import { readModules } from '../imports.ts';

export type ServerName = 'postgres' | 'temporal' | 'redis';

/** Settings by server: a module that names the setting is taken to use the server. */
const SETTING_SERVERS: readonly [setting: string, server: ServerName][] = [
  ['TEST_POSTGRES_URL', 'postgres'],
  ['TEST_TEMPORAL_ADDRESS', 'temporal'],
  ['TEST_REDIS_URL', 'redis'],
];
/** Folder of the modules that give the settings to the tests, and name them without using the server. */
const GIVERS = import.meta.dirname;

/** Finds the servers used by these test files or by any module they import, at any depth. */
export function findNeededServers(files: readonly string[]): Set<ServerName> {
  const needed = new Set<ServerName>();
  for (const [file, text] of readModules(files)) {
    if (dirname(file) === GIVERS) continue;
    for (const [setting, server] of SETTING_SERVERS) if (text.includes(setting)) needed.add(server);
  }
  return needed;
}
