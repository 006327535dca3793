// The connection to Temporal that the client's parts share.
import {
  Client,
  Connection,
  type ConnectionOptions,
  type WorkflowClientInterceptor,
} from '@temporalio/client';

export interface TemporalSettings {
  connectionOptions: ConnectionOptions;
  namespace: string;
  /** Passes the trace on to the workflow. */
  interceptor?: WorkflowClientInterceptor | undefined;
}

export interface Temporal {
  client: Client;
  connection: Connection;
  /** Makes a call to Temporal; rejects when it takes longer than `waitMs`, connecting included. */
  within<Result>(waitMs: number, call: () => Promise<Result>): Promise<Result>;
  /**
   * Closes the connection when the calls under way have ended: the SDK tries a failed call again from a
   * timer, and a closed connection throws there, where nothing could catch it.
   */
  close(): Promise<void>;
}

/** How long a single call to Temporal may take where no caller waits for it. */
export const CALL_LIMIT_MS = 10_000;

/** Connects when first used, so that a Temporal that is away does not stop reads. */
export function connectTemporal(settings: TemporalSettings): Temporal {
  const connection = Connection.lazy({ connectTimeout: 2_000, ...settings.connectionOptions });
  const interceptors = settings.interceptor ? { workflow: [settings.interceptor] } : {};
  const client = new Client({ connection, namespace: settings.namespace, interceptors });
  const underWay = new Set<Promise<unknown>>();
  return {
    client,
    connection,
    // The connection's own deadline does not cover the time it takes to connect: the race does.
    within: (waitMs, call) => {
      const answer = connection.withDeadline(Date.now() + waitMs, call);
      const ended = answer.then(noop, noop).finally(() => underWay.delete(ended));
      underWay.add(ended);
      return rejectAfter(waitMs, answer);
    },
    close: async () => {
      await Promise.all(underWay);
      await connection.close();
    },
  };
}

function noop(): void {}

async function rejectAfter<Result>(waitMs: number, call: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the engine did not answer in time')), waitMs);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
    call.catch(() => undefined); // it may still fail after the race is lost, and its result is used no more
  }
}
