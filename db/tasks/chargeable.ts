// What the charge for a finished attempt is computed from, in one read.
import type { Order } from '../../domain/orders/order.ts';
import type { TaskAttempt } from '../../domain/tasks.ts';
import type { StoredEvidence, StoredPrice, TaskOutput } from '../columns.ts';
import type { Em } from '../database.ts';
import { prepare } from '../prepared.ts';

export interface Chargeable {
  /** As the task was accepted. */
  price: StoredPrice;
  ordered: Order;
  /** What is in our storage. */
  outputs: TaskOutput[];
  outputText: string | null;
  evidence: StoredEvidence | null;
}

/** Null when nothing of the attempt is stored, or when it is not the task's newest. */
export async function findChargeable(em: Em, { taskId, attempt }: TaskAttempt): Promise<Chargeable | null> {
  const [found] = await selectChargeable(em, [taskId, attempt]);
  return found ?? null;
}

const selectChargeable = prepare<Chargeable>(
  'find-chargeable',
  `select t.price, t.ordered, s.outputs, s.output_text as "outputText", s.evidence
   from task t join submission s on s.task_id = t.id and s.attempt = t.attempt
   where t.id = $1 and t.attempt = $2 and s.outputs is not null`,
);
