// Lists and reads the tasks of all users for administrators. Nothing is decrypted, and the owner's content
// is masked.
import { z } from 'zod';
import { listTransfersOfTask } from '../../db/ledger/accounts.ts';
import { listAllTasks } from '../../db/tasks/all-tasks.ts';
import { findTask, listEvents } from '../../db/tasks/tasks.ts';
import { toCredits } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import { isId } from '../../db/ids.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { answerPage, pageQuery } from '../http/pages.ts';
import { readId, readQuery } from '../http/request-fields.ts';
import { TASK_FILTERS } from '../tasks/task-filters.ts';
import { presentLedgerLine } from '../account/views.ts';
import { presentEvent } from '../tasks/views.ts';
import { presentForeignTask } from './views.ts';

export const ALL_TASKS_QUERY = z.object({
  ...pageQuery('task'),
  ...TASK_FILTERS,
  userId: z
    .string()
    .refine((text) => isId('usr', text), 'must be the id of a user')
    .optional(),
});

export async function listTasksOfAllUsers({ em, query }: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor, ...filters } = readQuery(ALL_TASKS_QUERY, query);
  const found = await listAllTasks(em, { limit: limit + 1, beforeId: cursor ?? null, ...filters });
  return answerPage(found.tasks, limit, presentForeignTask, found.isFull);
}

/** Reads one task of any user, masked, with what happened to it and what it cost. */
export async function readTaskOfAnyUser({ em, params }: RequestContext<SessionCaller>): Promise<Reply> {
  const task = await findTask(em, readId('task', params));
  if (!task) throw new GatewayError('task_not_found');
  const timeline = (await listEvents(em, task.id)).map(presentEvent);
  const transfers = await listTransfersOfTask(em, { userId: task.userId, taskId: task.id });
  const ledger = transfers.map(presentLedgerLine);
  const refunds = transfers.filter(({ kind }) => kind === 'refund');
  const creditsRefunded = toCredits(refunds.reduce((sum, { amount }) => sum + amount, 0n));
  return { status: 200, body: { data: { ...presentForeignTask(task), timeline, creditsRefunded, ledger } } };
}
