// Removes the files of videos that their owners have deleted, where that did not happen at once.
import { forkEm } from '../db/database.ts';
import { forgetFiles, listDeletedWithFiles } from '../db/tasks/videos.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { removeFiles } from './results.ts';

/** Safe to repeat. Throws StorageUnavailable when the storage is away. */
export async function sweepDeletedVideos({
  database,
  storage,
}: Pick<ActivityDependencies, 'database' | 'storage'>): Promise<void> {
  for (;;) {
    const deleted = await listDeletedWithFiles(forkEm(database));
    if (deleted.length === 0) return;
    for (const { id, outputs } of deleted) {
      await removeFiles(storage, outputs);
      await forgetFiles(forkEm(database), id);
    }
  }
}
