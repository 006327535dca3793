// Stops a task because its owner asks for it, as far as it can still be stopped.
import { cancelUnreserved } from '../../db/tasks/settlement.ts';
import { requestCancel } from '../../db/tasks/tasks.ts';
import type { KeyCaller, RequestContext, SessionCaller } from '../context.ts';

/** Longest wait for the workflow; after it, the cancellation goes on without the caller. */
const CANCEL_WAIT_MS = 3_000;

/**
 * Cancels the attempt of an open task and waits for its end for a moment; the next one, which a parallel
 * retry may have begun, goes on. Without a reservation the row alone decides; with one the workflow does,
 * which is asked as the button in Temporal's UI asks it.
 */
export async function stopTask(
  { services, em, caller }: RequestContext<KeyCaller | SessionCaller>,
  id: string,
): Promise<void> {
  const attempt = await requestCancel(em, caller.user.id, id);
  if (attempt === null) return;
  const endedAtOnce = await cancelUnreserved(em, caller.user.id, { taskId: id, attempt });
  const starting = services.taskStarts.underWay(id);
  const cancel = (waitMs: number) => services.taskWorkflows.cancelTask({ id, attempt }, waitMs);
  // A run that is not there yet cannot be asked to end as cancelled; it is asked as soon as it is.
  if (endedAtOnce && starting) void starting.then(() => cancel(0));
  else await cancel(endedAtOnce ? 0 : CANCEL_WAIT_MS);
}
