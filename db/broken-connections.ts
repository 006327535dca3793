// Returns the pool's place of a connection that broke in a transaction. Kysely 0.29.6 releases a connection
// when COMMIT or ROLLBACK succeeds, and on a broken one neither does: without this, each break would take a
// connection out of the pool until the process ends.

/** The parts of the driver's client that are used. */
export interface DriverClient {
  query(...statement: never[]): unknown;
  /** Ends the connection; at once while a statement runs. */
  end(): Promise<void>;
  /** Gives the connection back to the pool; `true`: it is not used again. */
  release(isBroken: boolean): void;
  once(event: 'end', listener: () => void): unknown;
}

/** The parts of the driver's pool that are used, with its events. */
export interface WatchedPool {
  on(event: 'connect' | 'acquire', listener: (client: DriverClient) => void): unknown;
  on(event: 'release', listener: (error: unknown, client: DriverClient) => void): unknown;
}

/** For holders that release a broken connection themselves: they do so as soon as their statement fails. */
const HOLDERS_TURN_MS = 1_000;
/** What the driver says when it gave up waiting for an answer, which may still come. */
const READ_TIMEOUT = /Query read timeout/;

/** Call once, before the pool's first connection. */
export function releaseBrokenConnections(pool: WatchedPool): void {
  const held = new WeakSet<DriverClient>();
  pool.on('acquire', (client) => void held.add(client));
  pool.on('release', (_, client) => void held.delete(client));
  pool.on('connect', (client) => {
    endWhenUnanswered(client);
    client.once('end', () => {
      const release = (): void => {
        if (held.has(client)) client.release(true);
      };
      setTimeout(release, HOLDERS_TURN_MS).unref();
    });
  });
}

/** Ends a connection whose answer was not waited for: what is asked next would wait behind it. */
function endWhenUnanswered(client: DriverClient): void {
  client.query = new Proxy(client.query, {
    apply(query, self, statement) {
      const answer: unknown = Reflect.apply(query, self, statement);
      if (answer instanceof Promise) answer.catch((error: unknown) => endAfter(client, error));
      return answer;
    },
  });
}

function endAfter(client: DriverClient, error: unknown): void {
  if (error instanceof Error && READ_TIMEOUT.test(error.message)) client.end().catch(() => undefined);
}
