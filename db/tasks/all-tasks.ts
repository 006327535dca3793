// The task log as administrators read it: the tasks of all users.
import type { TaskMode, TaskStatus } from '../../domain/tasks.ts';
import { TaskEntity, type Task } from '../entities/tasks.ts';
import type { Em } from '../database.ts';

/** Newest first, older than the task `beforeId` if given; at most `limit`. */
export async function listAllTasks(
  em: Em,
  page: {
    limit: number;
    beforeId: string | null;
    status: TaskStatus | null;
    mode: TaskMode | null;
    userId: string | null;
  },
): Promise<Task[]> {
  const where = {
    ...(page.beforeId === null ? {} : { id: { $lt: page.beforeId } }),
    ...(page.status === null ? {} : { status: page.status }),
    ...(page.mode === null ? {} : { mode: page.mode }),
    ...(page.userId === null ? {} : { userId: page.userId }),
  };
  return em.find(TaskEntity, where, { orderBy: { id: 'desc' }, limit: page.limit });
}
