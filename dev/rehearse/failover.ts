// The database fails over to a standby under load: with all that was acknowledged, or without its end.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import type { Callers } from './callers.ts';
import { runDrill, type DrillResult } from './drill.ts';
import { run } from './engine.ts';
import { ENV_FILE, STANDBYS } from './files.ts';
import { judgeReturned } from './returned.ts';
import { reconcile } from './settled.ts';
import { NETWORK, type Stage } from './stage.ts';
import { orderVideo, startTraffic } from './traffic.ts';
import type { Account } from './walk.ts';

type Caller = Pick<Account, 'apiKey'>;

/** The service of the primary, and its name in the network. */
const PRIMARY = 'postgres';
const [FIRST, SECOND] = STANDBYS;
/** Longer than the way to the standby: this video begins before it and ends after it. */
const LONG_SECONDS = 30;
const BEFORE_MS = 8_000;
/** What the standby does not get before the primary dies. */
const LAG_MS = 4_000;
const AFTER_MS = 5_000;
const STREAMING_MS_MAX = 60_000;
const LOOK_EVERY_MS = 300;
/** What keeps facts of the database in memory: with one of an earlier moment it begins anew. */
export const KEEPERS = ['temporal', 'worker', 'second-worker', 'api', 'second-api'];
/** Copies the primary, $1, into the data folder of the standby, which then follows it. */
const COPY = `
  set -e
  mkdir -p "$PGDATA"
  find "$PGDATA" -mindepth 1 -delete
  chown postgres "$PGDATA"
  chmod 700 "$PGDATA"
  exec setpriv --reuid postgres --regid postgres --init-groups pg_basebackup --host "$1" --username replicator \
    --pgdata "$PGDATA" --write-recovery-conf --wal-method stream --checkpoint fast`;

/** The primary waits for its standby with each commit: nothing that was acknowledged may be missing. */
export async function rehearseFailover(
  stage: Stage,
  callers: Callers,
  { apiKey }: Caller,
): Promise<DrillResult> {
  await addStandby(stage, FIRST);
  await stage.sql(`alter system set synchronous_standby_names = '*'`);
  await stage.sql('select pg_reload_conf()');
  await untilSome(stage, `select from pg_stat_replication where sync_state = 'sync'`);
  await checkOnStandby(stage, FIRST);
  const drill = {
    name: 'fail over',
    about:
      'a standby made by pg_basebackup, for which the primary waits with each commit, and on which the ledger is ' +
      'checked; the primary is killed, the ' +
      `standby promoted and given its name; a video of ${LONG_SECONDS} s runs across`,
    disturb: async (): Promise<void> => {
      await orderVideo(callers, apiKey, LONG_SECONDS);
      await failOver(stage, FIRST);
    },
  };
  return runDrill(drill, stage, callers, { apiKey }, 1);
}

/** The primary does not wait, and its standby misses the last seconds: they are lost, and counted. */
export async function rehearseLateFailover(
  stage: Stage,
  callers: Callers,
  { apiKey }: Caller,
): Promise<DrillResult> {
  await addStandby(stage, SECOND);
  const traffic = startTraffic(callers, { apiKey });
  await sleep(BEFORE_MS);
  const kept = [...traffic.accepted];
  const position = await stage.sql('select pg_current_wal_lsn()');
  await untilSome(stage, `select from pg_stat_replication where replay_lsn >= '${position}'`);
  await run('docker', ['network', 'disconnect', NETWORK, await stage.container(SECOND)]);
  await sleep(LAG_MS);
  await failOver(stage, SECOND);
  const atRisk = traffic.accepted.filter((id) => !kept.includes(id));
  const startedAt = performance.now();
  await wakeKeepers(stage, 'restart');
  const healthySeconds = (performance.now() - startedAt) / 1000;
  const reconciled = await reconcile(stage, '--apply');
  await sleep(AFTER_MS);
  const result = await traffic.stop();
  const { gone, ...judged } = await judgeReturned(stage, result, { kept, atRisk });
  return {
    ...{ ...result, ...judged, healthySeconds },
    name: 'fail over late',
    about:
      `the standby is cut off ${LAG_MS / 1000} s before the primary is killed; after the promotion Temporal and the four ` +
      `processes are restarted; ${gone} tasks were not replicated and are gone; reconcile --apply: ${reconciled}`,
  };
}

/** Kills the primary, promotes its standby, and gives it the primary's name in the network. */
async function failOver(stage: Stage, standby: string): Promise<void> {
  await run('docker', ['kill', await stage.container(PRIMARY)]);
  stage.standIn(PRIMARY, standby);
  await stage.sql('select pg_promote()');
  await stage.rename(PRIMARY, PRIMARY);
}

/** Starts or restarts what keeps facts, and waits until it is healthy and the proxy has its addresses. */
export async function wakeKeepers(stage: Stage, command: 'start' | 'restart'): Promise<void> {
  await stage.compose(command, ...KEEPERS);
  for (const service of KEEPERS) await stage.untilHealthy(service);
  await stage.reloadProxy();
}

/** A base backup of the primary that follows it. The name of its container is the primary's address here. */
async function addStandby(stage: Stage, standby: string): Promise<void> {
  const primary = await stage.container(PRIMARY);
  const password = randomBytes(16).toString('hex');
  await stage.sql('drop role if exists replicator');
  await stage.sql(`create role replicator login replication password '${password}'`);
  const permission = 'host replication replicator all scram-sha-256';
  const file = await stage.sql('show hba_file');
  await run('docker', ['exec', primary, 'sh', '-c', `echo '${permission}' >> ${file}`]);
  await stage.sql('select pg_reload_conf()');
  const once = ['run', '--rm', '-T', '--no-deps', '-e', `PGPASSWORD=${password}`, '--entrypoint', 'bash'];
  await stage.compose(...once, standby, '-c', COPY, 'copy', primary);
  await stage.compose('up', '--detach', '--no-deps', '--scale', `${standby}=1`, standby);
  await untilSome(stage, `select from pg_stat_replication where state = 'streaming'`);
}

/** Walks over all money on the standby, which spares the primary. Throws when a rule is broken there. */
async function checkOnStandby(stage: Stage, standby: string): Promise<void> {
  const password = parseEnv(readFileSync(ENV_FILE, 'utf8'))['APP_DATABASE_PASSWORD'] ?? '';
  const url = `postgres://svc_app:${password}@${standby}:5432/gateway`;
  const once = ['run', '--rm', '-T', '--no-deps', '-e', `DATABASE_URL=${url}`, 'worker'];
  await stage.compose(...once, 'node', 'cli/db.ts', 'check');
}

/** Waits until the statement finds a row. */
export async function untilSome(stage: Stage, statement: string): Promise<void> {
  const until = Date.now() + STREAMING_MS_MAX;
  while ((await stage.sql(`select count(*) from (${statement}) found`)) === '0') {
    if (Date.now() > until) throw new Error(`nothing comes of: ${statement}`);
    await sleep(LOOK_EVERY_MS);
  }
}
