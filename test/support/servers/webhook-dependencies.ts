// What the worker of a test gives to the delivery of webhooks.
import type { WebhookDependencies } from '../../../activities/dependencies.ts';
import type { Services } from '../../../api/services.ts';
import { isLoopbackUrl } from '../../../domain/loopback.ts';
import { WEBHOOK_ATTEMPTS_MAX, WEBHOOK_RETRY_DELAYS_MS } from '../../../domain/webhooks.ts';

export function webhookDependencies(
  services: Pick<Services, 'publicUrl' | 'resultUrlSeconds'>,
  own: Partial<WebhookDependencies> = {},
): WebhookDependencies {
  return {
    retryDelaysMs: WEBHOOK_RETRY_DELAYS_MS,
    attemptsMax: WEBHOOK_ATTEMPTS_MAX,
    trustsOrigin: isLoopbackUrl,
    publicUrl: () => services.publicUrl(),
    resultUrlSeconds: services.resultUrlSeconds,
    observe: () => undefined,
    ...own,
  };
}
