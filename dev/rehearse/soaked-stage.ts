// What the stage has in addition where a soak is played on it: settings, and ports for what the soak reads.
import { SOAK_SETTINGS } from '../../bench/soak/system.ts';

/** Whether this rehearsal soaks. */
export const IS_SOAKED = process.argv.includes('--soak');
/** Where the database is published, on this machine only. */
export const DATABASE_PORT = 15_432;
/** The internal listeners of the processes: the port inside the network, and the one on this machine. */
const LISTENERS = {
  api: [9090, 19_190],
  'second-api': [9090, 19_191],
  worker: [9091, 19_192],
  'second-worker': [9091, 19_193],
} as const;

/** Addresses of the internal listeners on this machine, by service. */
export const INTERNAL_URLS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(LISTENERS).map(([service, [, port]]) => [service, `http://127.0.0.1:${port}`]),
);

/** What an override adds. */
export function soakStage(): Readonly<Record<string, { environment?: object; ports: string[] }>> {
  const processes = Object.entries(LISTENERS).map(([service, [inside, port]]) => [
    service,
    { environment: { ...SOAK_SETTINGS }, ports: [`127.0.0.1:${port}:${inside}`] },
  ]);
  return {
    ...Object.fromEntries(processes),
    postgres: { ports: [`127.0.0.1:${DATABASE_PORT}:5432`] },
  };
}
