// What happened to a task, as bars: each step from its beginning to the next one's.
import { useTimeline } from '../../data/queries.ts';
import type { Task, TaskEvent } from '../../data/types.ts';
import { t } from '../../texts/index.ts';
import { formatDuration, formatMoment, formatUtc } from '../../ui/format.ts';
import { Skeleton } from '../../ui/parts.tsx';
import { isOpen } from '../../ui/status.tsx';
import { useNow } from '../../ui/times.tsx';

/** Steps in which nothing is worked on. */
const WAITING = new Set(['created', 'reserved', 'retried']);
const ENDS = new Set(['completed', 'failed', 'cancelled']);

interface Step {
  event: TaskEvent;
  beginMs: number;
  endMs: number;
  look: string;
}

export function Timeline({ task }: { task: Task }) {
  const now = useNow(isOpen(task));
  const { data: events } = useTimeline(task, task.id);
  if (!events) return <Skeleton lines={5} />;
  const ofAttempt = events.filter(({ attempt }) => attempt === task.attempt);
  const steps = stepsOf(ofAttempt, isOpen(task) ? now : null);
  const first = steps[0]?.beginMs ?? 0;
  const wholeMs = Math.max(1, (steps.at(-1)?.endMs ?? 1) - first);
  return (
    <ol class="timeline">
      {steps.map((step, index) => (
        <li key={index} class={step.look}>
          <span class="cut" title={`${formatMoment(step.event.at)}\n${formatUtc(step.event.at)}`}>
            {t.task.events[step.event.event] ?? step.event.event}
          </span>
          <span class="track" aria-hidden="true">
            <i
              style={{
                left: `${((step.beginMs - first) / wholeMs) * 100}%`,
                width: `${((step.endMs - step.beginMs) / wholeMs) * 100}%`,
              }}
            />
          </span>
          <span class="number">
            {ENDS.has(step.event.event) ? '' : formatDuration(step.endMs - step.beginMs)}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** Each event lasts until the next one; the last of an open task until now. */
function stepsOf(events: readonly TaskEvent[], nowMs: number | null): Step[] {
  return events.map((event, index) => {
    const beginMs = Date.parse(event.at);
    const next = events[index + 1];
    const isLast = next === undefined;
    const endMs = next ? Date.parse(next.at) : Math.max(beginMs, nowMs ?? beginMs);
    return { event, beginMs, endMs, look: lookOf(event, isLast && nowMs !== null) };
  });
}

function lookOf({ event }: TaskEvent, isRunning: boolean): string {
  if (event === 'failed' || event === 'cancelled') return 'ended-badly';
  if (isRunning) return 'running';
  return WAITING.has(event) ? 'waiting' : '';
}
