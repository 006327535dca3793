// Restores the database to a backup from the midst of the traffic, as docs/operation.md says.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Callers } from './callers.ts';
import type { DrillResult } from './drill.ts';
import { run } from './engine.ts';
import { checkLedger, countEnds, countFound, findFaults, reconcile, untilSettled } from './settled.ts';
import type { Stage } from './stage.ts';
import { orderVideo, startTraffic } from './traffic.ts';
import { untilStatus, type Account } from './walk.ts';

const BACKUP = '/tmp/gateway.dump';
const PROCESSES = ['worker', 'second-worker', 'api', 'second-api'];
const BEFORE_MS = 8_000;
const LOST_MS = 12_000;
const AFTER_MS = 5_000;
/** Longer than the way to the restored database; shorter than the time in which all has to be settled. */
const LONG_SECONDS = 45;
/** A row rests for 30 s before the sweeper asks about its run, and rounds come every 20 s. */
const TASKS_MS_MAX = 120_000;
const RUNS_MS_MAX = 60_000;
const LOOK_EVERY_MS = 1_000;

export async function rehearseRestore(
  stage: Stage,
  callers: Callers,
  { apiKey, session }: Account,
): Promise<DrillResult> {
  const traffic = startTraffic(callers, { apiKey });
  await sleep(BEFORE_MS);
  const kept = [...traffic.accepted, await orderVideo(callers, apiKey, LONG_SECONDS)];
  await inPostgres(stage, 'pg_dump', '--format', 'custom', '--create', '--file', BACKUP, 'gateway');
  const forgotten = await orderVideo(callers, apiKey, LONG_SECONDS);
  await sleep(LOST_MS);
  await stage.compose('stop', ...PROCESSES);
  const lost = [...traffic.accepted, forgotten].filter((id) => !kept.includes(id));
  await inPostgres(stage, 'pg_restore', '--clean', '--create', '--dbname', 'postgres', BACKUP);
  await stage.compose('start', ...PROCESSES);
  const startedAt = performance.now();
  for (const service of PROCESSES) await stage.untilHealthy(service);
  // Containers that start together exchange their addresses.
  await stage.reloadProxy();
  const healthySeconds = (performance.now() - startedAt) / 1000;
  const reconciled = await reconcile(stage, '--apply');
  await sleep(AFTER_MS);
  const result = await traffic.stop();
  const problems = findFaults(result);
  const seconds = await untilSettled(stage, TASKS_MS_MAX, problems);
  problems.push(...(await checkLedger(stage)));
  // Tasks of the backup, and those that were accepted after it was restored.
  const surely = [...new Set([...kept, ...result.accepted])].filter((id) => !lost.includes(id));
  const ended = await countEnds(stage, surely);
  const found = await countFound(stage, surely);
  if (found !== surely.length) problems.push(`of ${surely.length} tasks that had to be there ${found} are`);
  const left = await countFound(stage, lost);
  const stillRunning = await untilNoRuns(stage);
  if (stillRunning > 0) problems.push(`${stillRunning} runs go on after all tasks have ended`);
  problems.push(...(await retryOne(stage, session).catch((error: unknown) => [String(error)])));
  await reconcile(stage).catch((error: unknown) => problems.push(`reconcile: ${String(error)}`));
  return {
    ...{ ...result, ...seconds, healthySeconds, ended, problems },
    name: 'restore a backup',
    about:
      `pg_dump under load; ${(LOST_MS / 1000).toFixed(0)} s later the four processes stopped, pg_restore, started; ` +
      `${lost.length - left} tasks were accepted after the backup and are gone with it; ` +
      `reconcile --apply: ${reconciled}`,
  };
}

async function inPostgres(stage: Stage, ...words: string[]): Promise<void> {
  const [program = '', ...rest] = words;
  await run('docker', [
    'exec',
    await stage.container('postgres'),
    program,
    '--username',
    'postgres',
    ...rest,
  ]);
}

/** How many runs of tasks Temporal still has, when it has none or the time is over. */
async function untilNoRuns(stage: Stage): Promise<number> {
  const query = `WorkflowType='generate' and ExecutionStatus='Running'`;
  const until = Date.now() + RUNS_MS_MAX;
  for (;;) {
    const said = await stage.temporal('workflow', 'count', '--query', query);
    const count = Number(/Total: (\d+)/.exec(said)?.[1] ?? Number.NaN);
    if (Number.isNaN(count)) throw new Error(`Temporal's command line says: ${said}`);
    if (count === 0 || Date.now() > until) return count;
    await sleep(LOOK_EVERY_MS);
  }
}

/** A task that the restore made fail is retried by its owner. */
async function retryOne(stage: Stage, session: Account['session']): Promise<string[]> {
  const failed = `select id from task where status = 'failed' and error_code = 'internal_error'`;
  const [id] = (await stage.sql(`${failed} order by created_at desc limit 1`)).split('\n');
  if (id === undefined || id === '') return ['no task was failed by the sweeper, so none was retried'];
  await session('POST', `/api/tasks/${id}/retry`);
  await untilStatus(async () => (await session('GET', `/api/tasks/${id}`)).body.data, 'completed');
  return [];
}
