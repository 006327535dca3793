// How an attempt ends in task log and ledger. Each activity may be repeated; the first outcome stands.
import { cancelTask, completeTask, failTask, type SettledStatus } from '../db/tasks/settlement.ts';
import { readEvidence, readPrice, type StoredEvidence } from '../db/columns.ts';
import { findChargeable } from '../db/tasks/chargeable.ts';
import { findSubmission } from '../db/tasks/submissions.ts';
import { findTask } from '../db/tasks/tasks.ts';
import type { MicroCredits } from '../domain/credits.ts';
import { TASK_FAILURES, type TaskFailureCode } from '../domain/failures.ts';
import { composeErrorMessage } from '../domain/masking/masking.ts';
import { computeCharge, computeLoss } from '../domain/pricing.ts';
import type { TaskAttempt, TaskStatus } from '../domain/tasks.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { failTaskWith } from './failures.ts';
import { forkEm } from '../db/database.ts';

export function createSettlement({ database, log }: ActivityDependencies) {
  const statusOf = createStatusReader(log);
  return {
    /**
     * Charges for what was delivered, by the prices the task was accepted with, at most what was reserved.
     */
    async charge(task: TaskAttempt): Promise<{ status: TaskStatus; creditsCharged: string }> {
      const em = forkEm(database);
      const chargeable = await findChargeable(em, task);
      if (!chargeable) throw failTaskWith('internal_error');
      const { price, ordered, outputs, outputText, evidence } = chargeable;
      const { amount, loss } = computeCharge(readPrice(price), ordered, readEvidence(evidence));
      logLoss(task, loss);
      const settled = await completeTask(em, task, { outputs, outputText, amount, loss });
      return { status: statusOf(task, settled), creditsCharged: amount.toString() };
    },

    async recordFailure(failure: TaskAttempt & { code: TaskFailureCode }): Promise<{ status: TaskStatus }> {
      const { taskId, attempt, code } = failure;
      const em = forkEm(database);
      const submission = await findSubmission(em, failure);
      const message = composeErrorMessage(TASK_FAILURES[code], submission?.errorText ?? null);
      const loss = await findLoss(failure, submission?.evidence);
      const status = await failTask(em, { taskId, attempt }, { code, message, loss });
      return { status: statusOf(failure, status) };
    },

    async recordCancellation(task: TaskAttempt): Promise<{ status: TaskStatus }> {
      const em = forkEm(database);
      const submission = await findSubmission(em, task);
      const status = await cancelTask(em, task, await findLoss(task, submission?.evidence));
      return { status: statusOf(task, status) };
    },
  };

  /**
   * What the vendor bills for an attempt that delivers nothing: some do so for what their moderation blocks.
   */
  async function findLoss(task: TaskAttempt, evidence?: StoredEvidence | null): Promise<MicroCredits> {
    if (!evidence) return 0n;
    const row = await findTask(forkEm(database), task.taskId);
    if (!row || row.attempt !== task.attempt) return 0n;
    const loss = computeLoss(readPrice(row.price), row.ordered, readEvidence(evidence));
    logLoss(task, loss);
    return loss;
  }

  function logLoss({ taskId }: TaskAttempt, loss: MicroCredits): void {
    if (loss > 0n) log.warn({ taskId, loss: loss.toString() }, 'the upstream cost more than was charged');
  }
}

/** A run whose task the database does not know ends as failed: repeating it would not bring the row back. */
function createStatusReader(log: ActivityDependencies['log']) {
  return ({ taskId, attempt }: TaskAttempt, status: SettledStatus): TaskStatus => {
    if (status !== 'missing') return status;
    log.warn({ taskId, attempt }, 'the database has no task for this run');
    return 'failed';
  };
}
