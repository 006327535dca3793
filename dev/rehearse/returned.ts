// Judges what is left of a database that returned to an earlier moment: what has to be there, what is gone.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  checkLedger,
  countEnds,
  countFound,
  findFaults,
  findUncharged,
  untilSettled,
  type Settled,
} from './settled.ts';
import type { Stage } from './stage.ts';
import type { TrafficResult } from './traffic.ts';

/** A row rests for 30 s before the sweeper asks about its run, and rounds come every 20 s. */
const TASKS_MS_MAX = 120_000;
const RUNS_MS_MAX = 60_000;
const LOOK_EVERY_MS = 1_000;

/**
 * `kept`: the tasks accepted before that moment; `atRisk`: those accepted after it, before the database was
 * back. All others have to be there. `gone`: how many of those at risk are lost.
 */
export async function judgeReturned(
  stage: Stage,
  result: TrafficResult,
  { kept, atRisk }: Record<'kept' | 'atRisk', readonly string[]>,
): Promise<Settled & { problems: string[]; gone: number }> {
  const problems = findFaults(result);
  const seconds = await untilSettled(stage, TASKS_MS_MAX, problems);
  problems.push(...(await findUncharged(stage)), ...(await checkLedger(stage)));
  const surely = [...new Set([...kept, ...result.accepted])].filter((id) => !atRisk.includes(id));
  const ended = await countEnds(stage, surely);
  const found = await countFound(stage, surely);
  if (found !== surely.length) problems.push(`of ${surely.length} tasks that had to be there ${found} are`);
  const gone = atRisk.length - (await countFound(stage, atRisk));
  const stillRunning = await untilNoRuns(stage);
  if (stillRunning > 0) problems.push(`${stillRunning} runs go on after all tasks have ended`);
  return { ...seconds, ended, problems, gone };
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
