// Recovers the database from a base backup and archived WAL, as docs/operation.md says, while tasks run.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Callers } from './callers.ts';
import type { DrillResult } from './drill.ts';
import { run } from './engine.ts';
import { KEEPERS, untilSome, wakeKeepers } from './failover.ts';
import { judgeReturned } from './returned.ts';
import { reconcile } from './settled.ts';
import type { Stage } from './stage.ts';
import { orderVideo, startTraffic } from './traffic.ts';
import type { Account } from './walk.ts';

/** Back to a moment on a server that is whole, or to the end of the archive when its disk is lost. */
type Way = 'moment' | 'disk';

const ABOUT: Record<Way, string> = {
  moment: 'back to a moment of 8 s ago on a server that runs',
  disk: 'the primary killed and its data deleted 8 s after the last segment was archived, back to the end of the archive',
};
const NAMES: Record<Way, string> = { moment: 'recover to a moment', disk: 'recover a lost disk' };
const BEFORE_MS = 5_000;
const LOST_MS = 8_000;
const AFTER_MS = 5_000;
/** Longer than the way back; shorter than the time in which all has to be settled. */
const LONG_SECONDS = 45;
const ARCHIVING = {
  archive_mode: 'on',
  archive_command: 'bash /deploy/archive-wal.sh %p %f',
  archive_timeout: '1min',
};

export async function rehearseRecovery(
  way: Way,
  stage: Stage,
  callers: Callers,
  { apiKey }: Pick<Account, 'apiKey'>,
): Promise<DrillResult> {
  await switchOnArchiving(stage);
  const traffic = startTraffic(callers, { apiKey });
  await sleep(BEFORE_MS);
  const base = `/archive/base-${way}`;
  const backup = ['pg_basebackup', '--username', 'postgres', '--pgdata', base, '--checkpoint', 'fast'];
  await run('docker', ['exec', '--user', 'postgres', await stage.container('postgres'), ...backup]);
  const crossing = await orderVideo(callers, apiKey, LONG_SECONDS);
  await sleep(BEFORE_MS);
  const kept = [...traffic.accepted, crossing];
  const moment = await stage.sql('select clock_timestamp()');
  if (way === 'disk') await untilArchived(stage);
  const forgotten = await orderVideo(callers, apiKey, LONG_SECONDS);
  await sleep(LOST_MS);
  await bringDown(way, stage);
  const atRisk = [...traffic.accepted, forgotten].filter((id) => !kept.includes(id));
  const startedAt = performance.now();
  const once = ['run', '--rm', '-T', '--no-deps', '--entrypoint', 'bash', 'postgres'];
  await stage.compose(...once, '/deploy/recover.sh', base, ...(way === 'moment' ? [moment] : []));
  await stage.compose('start', 'postgres');
  await stage.untilHealthy('postgres');
  await untilSome(stage, 'select where not pg_is_in_recovery()');
  await stage.sql('alter system reset recovery_target_time');
  await wakeKeepers(stage, 'start');
  const healthySeconds = (performance.now() - startedAt) / 1000;
  const reconciled = await reconcile(stage, '--apply');
  await sleep(AFTER_MS);
  const result = await traffic.stop();
  const { gone, ...judged } = await judgeReturned(stage, result, { kept, atRisk });
  return {
    ...{ ...result, ...judged, healthySeconds },
    name: NAMES[way],
    about:
      `pg_basebackup under load, its WAL archived; ${ABOUT[way]}; ${gone} tasks were accepted after it and are gone; ` +
      `reconcile --apply: ${reconciled}`,
  };
}

async function switchOnArchiving(stage: Stage): Promise<void> {
  if ((await stage.sql('show archive_mode')) === 'on') return;
  await run('docker', ['exec', await stage.container('postgres'), 'chown', 'postgres', '/archive']);
  for (const [name, value] of Object.entries(ARCHIVING))
    await stage.sql(`alter system set ${name} = '${value}'`);
  await stage.compose('restart', 'postgres');
  await stage.untilHealthy('postgres');
}

/** Ends the present segment of the WAL and waits until it is in the archive. */
async function untilArchived(stage: Stage): Promise<void> {
  const segment = await stage.sql('select pg_walfile_name(pg_switch_wal())');
  await untilSome(stage, `select from pg_stat_archiver where last_archived_wal >= '${segment}'`);
}

async function bringDown(way: Way, stage: Stage): Promise<void> {
  if (way === 'disk') {
    await run('docker', ['kill', await stage.container('postgres')]);
    const once = ['run', '--rm', '-T', '--no-deps', '--entrypoint', 'find', 'postgres'];
    await stage.compose(...once, '/var/lib/postgresql/data', '-mindepth', '1', '-delete');
  }
  // Without a database the processes cannot end in order.
  await stage.compose(way === 'disk' ? 'kill' : 'stop', ...KEEPERS);
  if (way === 'moment') await stage.compose('stop', 'postgres');
}
