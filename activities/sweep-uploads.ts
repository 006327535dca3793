// Removes expired uploads and what a crash left behind: rows without a file, files without a row, partial
// files.
import { isId, timeOfId } from '../db/ids.ts';
import * as uploads from '../db/uploads.ts';
import { uploadKey, UPLOADS_FOLDER } from '../domain/files/uploads.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { readClock } from '../db/clock.ts';
import { forkEm } from '../db/database.ts';

/** An upload takes ten minutes at most: an unfinished one that is older than this was abandoned. */
const LEFTOVER_AFTER_SECONDS = 3600;

/**
 * Safe to repeat, and to run several times at once. Throws StorageUnavailable when the storage is away. What
 * is old is told by the database's clock, since that of this machine may have been set ahead.
 */
export async function sweepUploads({
  database,
  storage,
}: Pick<ActivityDependencies, 'database' | 'storage'>): Promise<void> {
  const abandonedBefore = new Date((await readClock(forkEm(database))) - LEFTOVER_AFTER_SECONDS * 1000);
  await removeEnded();
  await dropRowsWithoutFile();
  await removeFilesWithoutRow();
  await storage.removeUnfinished(abandonedBefore);

  async function removeEnded(): Promise<void> {
    for (;;) {
      const ended = await uploads.claimEndedUploads(forkEm(database));
      if (ended.length === 0) return;
      for (const upload of ended) {
        await storage.delete(uploadKey(upload));
        await uploads.deleteRemovedUpload(forkEm(database), upload.id);
      }
    }
  }

  async function dropRowsWithoutFile(): Promise<void> {
    for (let afterId = ''; ;) {
      const older = await uploads.listOlderUploads(forkEm(database), LEFTOVER_AFTER_SECONDS, afterId);
      const last = older.at(-1);
      if (!last) return;
      for (const upload of older)
        if ((await storage.size(uploadKey(upload))) === null)
          await uploads.deleteUpload(forkEm(database), upload.id);
      afterId = last.id;
    }
  }

  async function removeFilesWithoutRow(): Promise<void> {
    for await (const key of storage.list(UPLOADS_FOLDER)) {
      const id = /\/([^/.]+)\.[a-z0-9]+$/.exec(key)?.[1] ?? '';
      if (!isId('file', id) || timeOfId(id) > abandonedBefore) continue;
      if (!(await uploads.hasUpload(forkEm(database), id))) await storage.delete(key);
    }
  }
}
