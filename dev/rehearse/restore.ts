// Restores the database to a backup from the midst of the traffic, as docs/operation.md says.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Callers } from './callers.ts';
import type { DrillResult } from './drill.ts';
import { run } from './engine.ts';
import { judgeReturned } from './returned.ts';
import { reconcile } from './settled.ts';
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
  const atRisk = [...traffic.accepted, forgotten].filter((id) => !kept.includes(id));
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
  const { gone, problems, ...judged } = await judgeReturned(stage, result, { kept, atRisk });
  problems.push(...(await retryOne(stage, session).catch((error: unknown) => [String(error)])));
  await reconcile(stage).catch((error: unknown) => problems.push(`reconcile: ${String(error)}`));
  return {
    ...{ ...result, ...judged, healthySeconds, problems },
    name: 'restore a backup',
    about:
      `pg_dump under load; ${(LOST_MS / 1000).toFixed(0)} s later the four processes stopped, pg_restore, started; ` +
      `${gone} tasks were accepted after the backup and are gone with it; ` +
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

/** A task that the restore made fail is retried by its owner. */
async function retryOne(stage: Stage, session: Account['session']): Promise<string[]> {
  const failed = `select id from task where status = 'failed' and error_code = 'internal_error'`;
  const [id] = (await stage.sql(`${failed} order by created_at desc limit 1`)).split('\n');
  if (id === undefined || id === '') return ['no task was failed by the sweeper, so none was retried'];
  await session('POST', `/api/tasks/${id}/retry`);
  await untilStatus(async () => (await session('GET', `/api/tasks/${id}`)).body.data, 'completed');
  return [];
}
