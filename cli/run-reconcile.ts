// Opens Temporal and the storage of results for the command that compares them with the database.
import { reconcile, type Reconciliation } from '../activities/reconcile.ts';
import { isReadOnly } from '../db/database.ts';
import { createLog } from '../log.ts';
import { createStorage, StorageUnavailable } from '../storage/storage.ts';
import { connectTaskWorkflows } from '../workflows/client.ts';
import { Refusal, type Installation } from './program.ts';

const REACH_MS_MAX = 5_000;

/**
 * Throws a Refusal when Temporal or the storage does not answer, and when a standby is to be mended: to one
 * that is behind, the newest tasks are unknown, and their runs and results would go.
 */
export async function runReconcile(
  { database, em, config }: Installation,
  mends: boolean,
): Promise<Reconciliation> {
  if (mends && (await isReadOnly(em)))
    throw new Refusal('The database in DATABASE_URL is a standby: reconcile --apply belongs to the primary.');
  const { temporal, taskDeadlineSeconds, storage, logLevel } = config;
  const log = createLog({ process: 'admin', level: logLevel }, process.stderr);
  const taskRuns = connectTaskWorkflows({ ...temporal, taskDeadlineSeconds });
  try {
    if (!(await taskRuns.isReachable(REACH_MS_MAX)))
      throw new Refusal('Temporal in TEMPORAL_ADDRESS does not answer.');
    return await reconcile({ database, storage: createStorage(storage), taskRuns, log }, mends);
  } catch (error) {
    if (error instanceof StorageUnavailable) throw new Refusal('The storage of results does not answer.');
    throw error;
  } finally {
    await taskRuns.close();
  }
}
