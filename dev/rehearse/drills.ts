// Runs the drills one after the other: single containers disturbed, a backup restored, an upgrade under load.
import type { Terminal } from '../terminal.ts';
import { bucketDrills } from './bucket-drills.ts';
import type { Callers } from './callers.ts';
import { DISTURBANCES, TEMPORAL_DRILLS } from './disturbances.ts';
import { runDrill, type Drill, type DrillResult } from './drill.ts';
import { exchangeDrills } from './exchanges.ts';
import { rehearseFailover, rehearseLateFailover } from './failover.ts';
import { rehearseRecovery } from './recovery.ts';
import { rehearseRestore } from './restore.ts';
import type { Stage } from './stage.ts';
import { IS_TEMPORAL_APART } from './temporal-apart.ts';
import { rehearseUpgrade } from './upgrade.ts';
import type { Account } from './walk.ts';

type Run = () => Promise<DrillResult>;

/**
 * Runs every drill, or those whose names match the expression in REHEARSE_DRILLS. `image` is the gateway's.
 */
export async function runDrills(
  stage: Stage,
  callers: Callers,
  account: Account,
  image: string,
  terminal: Terminal,
): Promise<DrillResult[]> {
  const asRun = (drill: Drill) => [drill.name, () => runDrill(drill, stage, callers, account)] as const;
  const usual: readonly (readonly [name: string, run: Run])[] = [
    ...[...DISTURBANCES, ...bucketDrills(callers, account, image), ...exchangeDrills()].map(asRun),
    ['restore a backup', () => rehearseRestore(stage, callers, account)],
    ['recover to a moment', () => rehearseRecovery('moment', stage, callers, account)],
    ['recover a lost disk', () => rehearseRecovery('disk', stage, callers, account)],
    // Those after it go on with the standby, and the last one begins anew with empty volumes.
    ['fail over', () => rehearseFailover(stage, callers, account)],
    ['fail over late', () => rehearseLateFailover(stage, callers, account)],
    ['upgrade', () => rehearseUpgrade(stage, callers, image, terminal)],
  ];
  const drills = IS_TEMPORAL_APART ? TEMPORAL_DRILLS.map(asRun) : usual;
  const wanted = new RegExp(process.env['REHEARSE_DRILLS'] ?? '');
  const results: DrillResult[] = [];
  for (const [name, drill] of drills.filter(([name]) => wanted.test(name))) {
    const result = await terminal.step(name, () => drill().catch((error: unknown) => broken(name, error)));
    for (const problem of result.problems) terminal.warn(problem);
    results.push(result);
  }
  return results;
}

/** A drill that could not be carried through; those after it may still show something. */
function broken(name: string, error: unknown): DrillResult {
  return {
    ...{ name, about: 'could not be carried through', problems: [String(error)] },
    ...{ accepted: [], requests: 0, refused: {}, slowestSeconds: 0, givenUp: { tasks: 0, chats: 0 } },
    ...{ healthySeconds: 0, tasksSeconds: 0, callsSeconds: 0, ended: {} },
  };
}
