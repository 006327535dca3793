// The task log as administrators read it: the tasks of all users.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';
import { equals, joinWithAnd } from '../filters.ts';
import { findTasks, matches, type TaskFilters, type TaskPage } from './tasks.ts';

export interface AllTasksFilters extends TaskFilters {
  userId?: string | undefined;
}

/**
 * Newest first. A key belongs to one user, so that the tasks of a key are found among those of its user, by
 * the index of the user's list.
 */
export async function listAllTasks(em: Em, filters: AllTasksFilters): Promise<TaskPage> {
  const { userId, keyId, limit } = filters;
  const ofKey =
    keyId !== undefined && sql`t.user_id = (select k.user_id from api_key k where k.id = ${keyId})`;
  return findTasks(em, joinWithAnd([equals(sql`t.user_id`, userId), ofKey, matches(filters)]), limit);
}
