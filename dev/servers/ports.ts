// Chooses free ports on the loopback interface once and keeps them, so that addresses survive a restart.
import { randomInt } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const HOST = '127.0.0.1';
/**
 * First port that is tried, below the range from which systems take ports for outgoing connections: such a
 * connection could hold the port of a server while it restarts.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

/** Whether a server could not listen on this port now. */
export function isPortInUse(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(true);
      else reject(error);
    });
    server.listen({ port, host: HOST, exclusive: true }, () => server.close(() => resolve(false)));
  });
}

/** Whether a server answers on this port now. */
function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST });
    socket.setTimeout(1000, () => socket.destroy(new Error('no answer')));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Finds a port on which no server listens, and which is not one of `taken`. */
export async function findFreePort(taken: ReadonlySet<number> = new Set()): Promise<number> {
  for (let tries = 0; tries < 200; tries += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (!taken.has(port) && !(await isPortInUse(port))) return port;
  }
  throw new Error(`No free port found between ${FIRST_PORT} and ${LAST_PORT} on ${HOST}.`);
}

/**
 * Chooses one port per name: those kept in the file where they are still free, else new ones, which are
 * then kept.
 */
export async function keepPorts<Name extends string>(
  file: string,
  names: readonly Name[],
): Promise<Record<Name, number>> {
  const kept = readPorts(file);
  const chosen: Record<string, number> = {};
  const taken = new Set<number>();
  for (const name of names) {
    const before = kept[name];
    const reusable = before !== undefined && !taken.has(before) && !(await isPortInUse(before));
    const port = reusable ? before : await findFreePort(taken);
    chosen[name] = port;
    taken.add(port);
  }
  writeFileSync(`${file}.new`, `${JSON.stringify({ ...kept, ...chosen })}\n`);
  renameSync(`${file}.new`, file);
  return chosen;
}

/** Waits until a server answers on the port; false when `stillWorthwhile` says no or the time is over. */
export async function waitForPort(
  port: number,
  timeoutMs: number,
  stillWorthwhile: () => boolean,
): Promise<boolean> {
  const until = Date.now() + timeoutMs;
  while (stillWorthwhile() && Date.now() < until) {
    if (await acceptsConnections(port)) return true;
    await sleep(30);
  }
  return false;
}

function readPorts(file: string): Record<string, number> {
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof content !== 'object' || content === null) return {};
    return Object.fromEntries(Object.entries(content).filter(([, port]) => Number.isInteger(port)));
  } catch {
    // The file is absent or damaged: the ports are chosen anew, because nothing else depends on the old
    // ones.
    return {};
  }
}
