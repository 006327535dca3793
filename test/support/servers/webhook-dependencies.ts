// What the worker of a test gives to the delivery of webhooks.
import type { WebhookDependencies } from '../../../activities/dependencies.ts';
import type { Services } from '../../../api/services.ts';
import { isLoopbackUrl, WEBHOOK_RETRY_DELAYS_MS } from '../../../domain/webhooks.ts';

export function webhookDependencies(
  services: Pick<Services, 'publicUrl' | 'resultUrlSeconds'>,
  retryDelaysMs: readonly number[] = WEBHOOK_RETRY_DELAYS_MS,
): WebhookDependencies {
  return {
    retryDelaysMs,
    trustsOrigin: isLoopbackUrl,
    publicUrl: () => services.publicUrl(),
    resultUrlSeconds: services.resultUrlSeconds,
    observe: () => undefined,
  };
}
