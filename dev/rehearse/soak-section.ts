// The section of the rehearsal's page about the last soak on its shape.
import type { SoakReport } from '../../bench/soak/soak.ts';
import { describeThirds } from '../../bench/soak/report.ts';
import { describeMachine } from '../machine.ts';
import type { MemoryUse } from './measure.ts';
import { keepSection, timeOf, wrap } from './page-text.ts';
import type { Soaked } from './soak.ts';

export interface SoakFacts {
  soaked: Soaked | null;
  startedAt: Date;
  commit: string;
  command: string;
  loadBefore: number;
}

const HEAD = '## The soak';

/** Of this rehearsal, or of the last one that played it. */
export function describeSoak(facts: SoakFacts, earlier: string): string[] {
  const { soaked, startedAt, commit, command, loadBefore } = facts;
  if (soaked === null) return keepSection(earlier, HEAD);
  const { plan, report, loadAfter, memory } = soaked;
  const rate = (report.peakPerSecond * plan.load).toFixed(1);
  return [
    HEAD,
    '',
    ...wrap(
      `\`${command}\`, ${timeOf(startedAt)} UTC, commit ${commit}, ${describeMachine(loadBefore)}, ` +
        `after it ${loadAfter.toFixed(1)}. ${plan.seconds} s of the stories of \`npm run soak\`, ${rate} begun each ` +
        `second through the proxy, seed ${plan.seed}; faults hit whole containers, with ${plan.faultPauseSeconds.join(' to ')} s ` +
        `between a recovery and the next one. Processes whose memory is judged are killed in the first two fifths only.`,
    ),
    '',
    ...describeAnswers(report),
    ...describeFaults(report),
    '',
    '| process | memory in MB | open files | queues | loop delay p99 in ms |',
    '|---|---|---|---|---|',
    ...report.judged.map(({ part, memoryMb, descriptors, queued, loopDelayMs }) => {
      const cells = [memoryMb, descriptors, queued, loopDelayMs].map(describeThirds);
      return `| \`${part}\` | ${cells.join(' | ')} |`;
    }),
    '',
    ...wrap(
      'Medians of the first and of the last third of the process that lived longest, after warm-up. Queues are ' +
        'requests in flight, waiters for connections, open tasks and webhooks that are due.',
    ),
    '',
    ...describeMemory(memory),
    ...wrap(
      report.problems.length === 0
        ? '**Passed:** no requirement was violated.'
        : `**Not passed: ${report.problems.join('; ')}**`,
    ),
    '',
  ];
}

function describeAnswers({ counts, orders, ended }: SoakReport): string[] {
  const { completed, charges, lost, doubled, violations, longestOpenSeconds, settledAfterSeconds } = ended;
  const statuses = [...counts.byStatus].toSorted(([one], [other]) => one - other);
  const answers = statuses.map(([status, count]) => `${count} × ${status}`).join(', ');
  return [
    ...wrap(
      `- ${counts.requests} requests: ${answers}; ${counts.ofProxy} × the proxy reached no API, ${counts.unanswered} × ` +
        `the connection broke, ${counts.disconnected} × the caller left.`,
    ),
    ...wrap(
      `- ${orders} tasks ordered: ${lost} lost, ${doubled} doubled. In the whole database ${completed} are completed ` +
        `and ${charges} charged, with ${violations} violations of the ledger's rules.`,
    ),
    ...wrap(
      `- The longest time from a recovery (or a later order) to a task's final status: ` +
        `${longestOpenSeconds.toFixed(1)} s, of 60 s allowed. After the last request everything had ended in ` +
        `${settledAfterSeconds === null ? 'no' : settledAfterSeconds.toFixed(1)} s.`,
    ),
  ];
}

function describeFaults({ faults, disturbances }: SoakReport): string[] {
  const names = [...faults].toSorted(([one], [other]) => one.localeCompare(other));
  const times = names.map(([name, count]) => `${count} × ${name}`).join(', ');
  const longestMs = Math.max(0, ...disturbances.map(({ from, until }) => until - from));
  return wrap(
    `- ${disturbances.length} faults: ${times || 'none'}. The longest time until all containers were healthy and all ` +
      `processes ready: ${(longestMs / 1000).toFixed(1)} s.`,
  );
}

function describeMemory({ before, after }: Soaked['memory']): string[] {
  const usedAfter = new Map(after.map(({ container, used }) => [container, used]));
  const rows = before.map(
    ({ container, used }: MemoryUse) => `| \`${container}\` | ${used} | ${usedAfter.get(container) ?? '–'} |`,
  );
  return ['| container | before | after |', '|---|---|---|', ...rows, ''];
}
