// Empties the outbox of webhooks. Each worker process does it; the database shares the deliveries out.
import { createWebhookAttempts } from '../activities/webhook-attempts.ts';
import type { ActivityDependencies } from '../activities/dependencies.ts';
import type { WebhookRuns } from '../domain/webhooks.ts';
import type { Log } from '../log.ts';
import { dispatchUntil } from './webhook-dispatcher.ts';
import { relayUntil } from './webhook-relay.ts';

export interface WebhookOutbox {
  /** Takes nothing more; resolves when nothing is under way, which is cut off after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

export function startWebhookOutbox(parts: {
  dependencies: Pick<ActivityDependencies, 'database' | 'secrets' | 'webhooks'>;
  runs: WebhookRuns;
  log: Pick<Log, 'warn'>;
}): WebhookOutbox {
  const { dependencies, runs, log } = parts;
  const { database, webhooks } = dependencies;
  const { attemptsMax } = webhooks;
  const stopping = new AbortController();
  const cutting = new AbortController();
  const attempts = createWebhookAttempts(dependencies);
  const running = Promise.all([
    dispatchUntil(
      { stopping: stopping.signal, cutting: cutting.signal },
      { database, attempts, attemptsMax, log },
    ),
    relayUntil(stopping.signal, { database, runs, log }),
  ]);
  return {
    stop: async (graceMs) => {
      stopping.abort();
      const timer = setTimeout(() => cutting.abort(), graceMs);
      await running;
      clearTimeout(timer);
    },
  };
}
