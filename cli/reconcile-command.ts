// The command that compares database, Temporal and storage, such as after a restore, and mends what differs.
import type { Count, Mismatch, Obstacle, Reconciliation } from '../activities/reconcile.ts';
import { CHECK } from './check-command.ts';
import { Refusal, type Command } from './program.ts';

const APPLY = '--apply';
/** What is found, and what was done with it. */
const WORDS: Readonly<Record<Mismatch, readonly [found: string, mended: string]>> = {
  abandonedCalls: ['chat calls whose process died', 'settled'],
  tasksWithoutRun: ['tasks without a run', 'started'],
  tasksOfEndedRuns: ['tasks whose run has ended', 'failed without a charge'],
  unheardCancellations: ['cancellations that did not arrive', 'repeated'],
  tasksNotHelped: ['tasks that the log says more about', 'helped'],
  runsWithoutTask: ['runs without a task', 'cancelled'],
  filesWithoutTask: ['results without a task', 'removed'],
};
const OBSTACLES: Readonly<Record<Obstacle, string>> = {
  unreachable: 'Temporal did not answer',
  closing: 'the run before is still closing',
  changed: 'it went on or ended meanwhile',
  contradictory: 'their figures contradict their accounts',
};
const COUNT_WIDTH = 6;

export const RECONCILE: Command = {
  args: [`[${APPLY}]`],
  about:
    'compares database, Temporal and storage, such as after a restore, and runs check;\n' +
    `with ${APPLY} it mends what differs; exit code 1 if something remains`,
  check: ([option]) => {
    if (option !== undefined && option !== APPLY)
      throw new Refusal(`reconcile knows no option but ${APPLY}.`);
  },
  run: async (installation, option) => {
    const mends = option === APPLY;
    // Temporal's client takes half a second to load, which the other commands need not wait for.
    const { runReconcile } = await import('./run-reconcile.ts');
    const reconciliation = await runReconcile(installation, mends);
    const check = await CHECK.run(installation);
    const { text, remaining } = describe(reconciliation, mends);
    const isAlarming = remaining > 0 || check.isAlarming === true;
    return { text: `${text}${check.text}`, isAlarming };
  },
};

/** The lines for operators, and how much is left as it was found. */
export function describe(
  reconciliation: Reconciliation,
  mends: boolean,
): { text: string; remaining: number } {
  const mismatches = Object.keys(WORDS) as Mismatch[];
  const lines = mismatches.map((mismatch) => {
    const count = reconciliation[mismatch];
    const [what, done] = WORDS[mismatch];
    const rest = mends && count.found > 0 ? `: ${count.mended} ${done}${describeLeft(count)}` : '';
    return `${String(count.found).padStart(COUNT_WIDTH)} ${what}${rest}\n`;
  });
  const counts = Object.values(reconciliation);
  const remaining = counts.reduce((sum, { found, mended }) => sum + found - mended, 0);
  const advice = remaining > 0 && !mends ? `run it with ${APPLY} to mend this\n` : '';
  return { text: `${lines.join('')}${advice}`, remaining };
}

function describeLeft({ left }: Readonly<Count>): string {
  const obstacles = Object.keys(left) as Obstacle[];
  return obstacles.map((obstacle) => `, ${left[obstacle]} not: ${OBSTACLES[obstacle]}`).join('');
}
