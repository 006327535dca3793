// The story of a delivery whose first attempt failed: one event to one endpoint, tried again until it was
// taken, refused for good, or tried often enough.
import { CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { WEBHOOK_QUEUE, type DeliverWebhookInput } from './names.ts';

/**
 * An attempt ends by itself after 15 seconds; a worker that died is missed a little later. The pauses between
 * attempts are those of Standard Webhooks (`WEBHOOK_RETRY_DELAYS_MS`): each failed attempt says when the next
 * one is due, and the last one that there is none. Operators see it pending, with its attempts and the last
 * failure.
 */
const { sendWebhook } = proxyActivities<Pick<Activities, 'sendWebhook'>>({
  taskQueue: WEBHOOK_QUEUE,
  startToCloseTimeout: '45s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
  summary: 'Send it again',
});

const { abandonWebhook } = proxyActivities<Pick<Activities, 'abandonWebhook'>>({
  taskQueue: WEBHOOK_QUEUE,
  startToCloseTimeout: '30s',
  retry: { initialInterval: '500ms', maximumInterval: '15s' },
  summary: 'Record that it is not sent any more',
});

/**
 * Begins when the second attempt is due. The run ends Completed if the receiver took it, Failed if not,
 * Canceled if an operator ended it.
 */
export async function deliverWebhook({ deliveryId }: DeliverWebhookInput): Promise<void> {
  try {
    await sendWebhook({ deliveryId });
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => abandonWebhook({ deliveryId }));
    throw error;
  }
}
