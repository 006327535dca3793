// Videos as OpenAI's API shows them: listed in either order, and deleted together with their files.
import { sql } from '@mikro-orm/postgresql';
import { TaskEntity, type Task } from '../entities/tasks.ts';
import type { TaskOutput } from '../columns.ts';
import type { Em } from '../database.ts';
import { storedFiles } from '../stored-files.ts';

/** Deleted videos whose files are removed in one round of the sweeper. */
const BATCH = 200;

/** A video of this user; null for another user's, a deleted and a missing one, which look the same. */
export async function findOwnVideo(em: Em, userId: string, id: string): Promise<Task | null> {
  return em.findOne(TaskEntity, { id, userId, mode: 'video', deletedAt: null }, { refresh: true });
}

/** Videos of one user that are not deleted, in the order of their creation, after the video `afterId`. */
export async function listOwnVideos(
  em: Em,
  userId: string,
  page: { afterId: string | null; limit: number; order: 'asc' | 'desc' },
): Promise<Task[]> {
  const beyond = page.order === 'asc' ? { $gt: page.afterId ?? '' } : { $lt: page.afterId ?? '' };
  const after = page.afterId === null ? {} : { id: beyond };
  const where = { userId, mode: 'video' as const, deletedAt: null, ...after };
  return em.find(TaskEntity, where, { orderBy: { id: page.order }, limit: page.limit });
}

/**
 * Marks a video that has ended as deleted, and answers its files; null when it has not ended, or was deleted
 * before. Among them are those that attempts had stored and that did not become its result: the row names
 * them from now on, until they are gone. It is not found afterwards; its row stays, with what it cost.
 */
export async function markVideoDeleted(em: Em, userId: string, id: string): Promise<TaskOutput[] | null> {
  const [row] = await em.execute<{ outputs: TaskOutput[] }[]>(sql`
    update task t
    set deleted_at = now(), updated_at = now(), outputs = ${storedFiles()}
    where id = ${id} and user_id = ${userId} and mode = 'video' and deleted_at is null
      and status in ('completed', 'failed', 'cancelled')
    returning outputs`);
  return row?.outputs ?? null;
}

/** Deleted videos whose files may still be there. */
export async function listDeletedWithFiles(em: Em): Promise<{ id: string; outputs: TaskOutput[] }[]> {
  return em.execute<{ id: string; outputs: TaskOutput[] }[]>(sql`
    select id, outputs from task where deleted_at is not null and outputs <> '[]' order by id limit ${BATCH}`);
}

/** Forgets the files of a deleted video, once they are gone. */
export async function forgetFiles(em: Em, id: string): Promise<void> {
  await em.execute(sql`
    update task set outputs = '[]', updated_at = now() where id = ${id} and deleted_at is not null`);
}
