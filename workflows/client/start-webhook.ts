// Starting the run of a webhook's delivery.
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { WebhookToRun } from '../../domain/webhooks.ts';
import { SEARCH_ATTRIBUTES, WEBHOOK_QUEUE, webhookWorkflowIdOf, type DeliverWebhookInput } from '../names.ts';
import { CALL_LIMIT_MS, type Temporal } from './temporal.ts';

/** Longer than all attempts and their pauses together, which are three days and a few hours. */
const RUN_TIMEOUT = '30d';

/**
 * Starts the run. The delivery's row says what is left to do, so that a start too many ends at once: it may
 * follow a run that was ended by force, and finds one that is under way.
 */
export async function startWebhook({ client, within }: Temporal, webhook: WebhookToRun): Promise<void> {
  const { deliveryId, eventType, endpointId, userId } = webhook;
  const input: DeliverWebhookInput = { deliveryId };
  const start = () =>
    client.workflow.start('deliverWebhook', {
      workflowId: webhookWorkflowIdOf(deliveryId),
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      taskQueue: WEBHOOK_QUEUE,
      workflowExecutionTimeout: RUN_TIMEOUT,
      args: [input],
      memo: { endpointId },
      staticSummary: eventType,
      typedSearchAttributes: [{ key: SEARCH_ATTRIBUTES.userId, value: userId }],
    });
  try {
    await within(CALL_LIMIT_MS, start);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
