// Uploaded files as rows: inserted if the user's quota allows it, found by their owner, used by tasks,
// removed in two steps: hidden first, deleted once the file is gone.
import { sql } from '@mikro-orm/postgresql';
import { UploadEntity, type Upload } from './entities/uploads.ts';
import { lockUntilEnd } from './advisory-lock.ts';
import type { Em } from './database.ts';

export interface NewUpload {
  id: string;
  userId: string;
  filename: string;
  contentType: Upload['contentType'];
  bytes: number;
  sha256: string;
}

/** How long an upload lives; an open task that needs it prolongs its life until the task has ended. */
const UPLOAD_LIFE_HOURS = 24;

/** Uploads handled in one statement. */
const BATCH = 200;

/**
 * Writes the row if the user's living uploads and this one fit into `quotaBytes`, else answers null. Uploads
 * of one user are inserted one after the other, so that parallel ones cannot overshoot.
 */
export async function insertUpload(em: Em, upload: NewUpload, quotaBytes: number): Promise<Upload | null> {
  return em.transactional(async (tx) => {
    const { id, userId, filename, contentType, bytes, sha256 } = upload;
    await lockUntilEnd(tx, 'uploads', userId);
    const rows = await tx.execute<{ id: string }[]>(sql`
      insert into upload (id, user_id, filename, content_type, bytes, sha256, expires_at)
      select ${id}, ${userId}, ${filename}, ${contentType}, ${bytes}::bigint, ${sha256},
             now() + make_interval(hours => ${UPLOAD_LIFE_HOURS})
      where ${bytesOf(userId)} + ${bytes}::bigint <= ${quotaBytes}::bigint
      returning id`);
    return rows.length > 0 ? tx.findOneOrFail(UploadEntity, { id }) : null;
  });
}

/** Null for another user's upload, a missing one and an expired one, which cannot be told apart. */
export async function findOwnUpload(em: Em, userId: string, id: string): Promise<Upload | null> {
  return em.findOne(
    UploadEntity,
    { id, userId, state: 'ready', expiresAt: { $gt: sql`now()` } },
    { refresh: true },
  );
}

/** The upload behind a signed link; also an expired one, as long as an open task needs it. */
export async function findServedUpload(em: Em, id: string): Promise<Upload | null> {
  const [row] = await em.execute<{ id: string }[]>(sql`
    select u.id from upload u where u.id = ${id} and u.state = 'ready' and (u.expires_at > now() or ${isNeeded})`);
  return row ? em.findOne(UploadEntity, { id: row.id }, { refresh: true }) : null;
}

/** Newest first, older than the upload `beforeId` if given; at most `limit`. */
export async function listOwnUploads(
  em: Em,
  userId: string,
  page: { limit: number; beforeId: string | null },
): Promise<Upload[]> {
  const before = page.beforeId === null ? {} : { id: { $lt: page.beforeId } };
  const where = { userId, state: 'ready' as const, expiresAt: { $gt: sql`now()` }, ...before };
  return em.find(UploadEntity, where, { orderBy: { id: 'desc' }, limit: page.limit });
}

/** Whether there is a row, whatever its state. */
export async function hasUpload(em: Em, id: string): Promise<boolean> {
  const rows = await em.execute<unknown[]>(sql`select 1 from upload where id = ${id}`);
  return rows.length > 0;
}

/** Hides an upload and frees its quota. Answers it for the deletion of its file; null when not found. */
export async function removeUpload(em: Em, userId: string, id: string): Promise<Upload | null> {
  const rows = await em.execute<{ id: string }[]>(sql`
    update upload set state = 'removed'
    where id = ${id} and user_id = ${userId} and state = 'ready' and expires_at > now() returning id`);
  return rows.length > 0 ? em.findOne(UploadEntity, { id }, { refresh: true }) : null;
}

/** Deletes the row of a removed upload, once its file is gone. */
export async function deleteRemovedUpload(em: Em, id: string): Promise<void> {
  await em.execute(sql`delete from upload where id = ${id} and state = 'removed'`);
}

/**
 * Records that a task needs these uploads: until it has ended they stay. False when one of them is not the
 * user's own or has expired: roll back. Call it in the transaction that writes the task.
 */
export async function useUploads(
  tx: Em,
  { taskId, userId }: { taskId: string; userId: string },
  uploadIds: readonly string[],
): Promise<boolean> {
  const ids = [...new Set(uploadIds)];
  const rows = await tx.execute<unknown[]>(sql`
    with found as (
      select id from upload
      where id in (select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb)) and user_id = ${userId}
        and state = 'ready' and expires_at > now()
      for share
    )
    insert into upload_use (task_id, upload_id) select ${taskId}, id from found returning upload_id`);
  return rows.length === ids.length;
}

/** Whether a task was ordered with an upload that is not there any more. */
export async function hasMissingUploads(em: Em, taskId: string): Promise<boolean> {
  const rows = await em.execute<unknown[]>(sql`
    select 1 from upload_use n where n.task_id = ${taskId} and not exists
      (select 1 from upload u where u.id = n.upload_id and u.state = 'ready' and u.expires_at > now())`);
  return rows.length > 0;
}

/**
 * Marks expired uploads as removed, and answers them with those marked before whose file may still be there.
 */
export async function claimEndedUploads(em: Em): Promise<Upload[]> {
  await em.execute(sql`
    update upload set state = 'removed' where id in (
      select u.id from upload u where u.state = 'ready' and u.expires_at <= now() and not ${isNeeded}
      order by u.expires_at limit ${BATCH} for update skip locked)`);
  return em.find(UploadEntity, { state: 'removed' }, { orderBy: { id: 'asc' }, limit: BATCH, refresh: true });
}

/** Living uploads older than `olderThanSeconds`, in the order of their ids, after `afterId`; one batch. */
export async function listOlderUploads(em: Em, olderThanSeconds: number, afterId: string): Promise<Upload[]> {
  const before = new Date(Date.now() - olderThanSeconds * 1000);
  const where = { state: 'ready' as const, id: { $gt: afterId }, createdAt: { $lt: before } };
  return em.find(UploadEntity, where, { orderBy: { id: 'asc' }, limit: BATCH, refresh: true });
}

/** Deletes a row whose file is missing. */
export async function deleteUpload(em: Em, id: string): Promise<void> {
  await em.execute(sql`delete from upload where id = ${id}`);
}

function bytesOf(userId: string) {
  return sql`(select coalesce(sum(bytes), 0) from upload
              where user_id = ${userId} and state = 'ready' and expires_at > now())`;
}

/** Whether a task that has not ended was ordered with the upload `u`. */
const isNeeded = sql`exists (
  select 1 from upload_use n join task t on t.id = n.task_id
  where n.upload_id = u.id and t.status in ('queued', 'in_progress'))`;
