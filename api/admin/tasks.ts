// Lists the tasks of all users for administrators. Nothing is decrypted, and the owner's content is masked.
import { z } from 'zod';
import { listAllTasks } from '../../db/tasks/all-tasks.ts';
import { isId } from '../../db/ids.ts';
import { TASK_MODES, TASK_STATUSES } from '../../domain/tasks.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { answerPage, pageQuery } from '../http/pages.ts';
import { oneOf, readQuery } from '../http/request-fields.ts';
import { presentForeignTask } from './views.ts';

export const ALL_TASKS_QUERY = z.object({
  ...pageQuery('task'),
  status: oneOf(TASK_STATUSES).optional(),
  mode: oneOf(TASK_MODES).optional(),
  userId: z
    .string()
    .refine((text) => isId('usr', text), 'must be the id of a user')
    .optional(),
});

export async function listTasksOfAllUsers({ em, query }: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor, status, mode, userId } = readQuery(ALL_TASKS_QUERY, query);
  const filters = { status: status ?? null, mode: mode ?? null, userId: userId ?? null };
  const found = await listAllTasks(em, { limit: limit + 1, beforeId: cursor ?? null, ...filters });
  return answerPage(found, limit, presentForeignTask);
}
