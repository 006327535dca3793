// `with-settings.ts FILE [arguments…]`: runs a program of the gateway on the servers of this folder's `npm
// start`. Settings of the environment are kept, and nothing is filled in for production.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';

const DESCRIPTION = z.object({
  databaseUrl: z.string(),
  databaseProcessUrl: z.string().nullish(),
  temporalAddress: z.string().nullish(),
});

const [program, ...args] = process.argv.slice(2);
if (program === undefined) throw new Error('Name the program to run.');
if (process.env['NODE_ENV'] !== 'production') fillIn(process.env);
const file = resolve(import.meta.dirname, '..', program);
process.argv = [process.execPath, file, ...args];
await import(pathToFileURL(file).href);

/**
 * Fills in what `npm start` keeps in the data folder: its addresses only while it runs, the key ring for
 * ever. Temporal's comes with the database's, since they belong together.
 */
function fillIn(env: NodeJS.ProcessEnv): void {
  const dataDir = env['SVC_DATA_DIR'] || '.data';
  const running = readIfThere(join(dataDir, 'dev.json'));
  const secretKeys = readIfThere(join(dataDir, 'secret-keys'));
  if (running !== null && !env['DATABASE_URL']) {
    const { databaseUrl, databaseProcessUrl, temporalAddress } = DESCRIPTION.parse(JSON.parse(running));
    env['DATABASE_URL'] = databaseProcessUrl ?? databaseUrl;
    env['SVC_DATABASE_OWNER_URL'] = databaseUrl;
    if (temporalAddress) env['TEMPORAL_ADDRESS'] ||= temporalAddress;
  }
  if (secretKeys !== null) env['SVC_SECRET_KEYS'] ||= secretKeys.trim();
  if (!env['DATABASE_URL'])
    console.error(`npm start does not run on ${dataDir}: start it first, or set DATABASE_URL.`);
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
