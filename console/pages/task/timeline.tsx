// What happened to a task, as bars: each step from its beginning to the next one's.
import { useTimeline } from '../../data/queries.ts';
import type { Task, TaskEvent } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
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
  const { data: events } = useTimeline(task, task.id);
  return events ? <Attempts task={task} events={events} /> : <Skeleton lines={5} />;
}

interface AttemptsProps {
  task: Pick<Task, 'status' | 'attempt'>;
  events: readonly TaskEvent[];
}

/** The present attempt, and those before it folded away. */
export function Attempts({ task, events }: AttemptsProps) {
  const now = useNow(isOpen(task));
  const ofAttempt = (wanted: number) => events.filter(({ attempt }) => attempt === wanted);
  const earlier = Array.from({ length: task.attempt - 1 }, (_, index) => task.attempt - 1 - index);
  return (
    <div class="stack">
      <Steps steps={stepsOf(ofAttempt(task.attempt), isOpen(task) ? now : null)} />
      {earlier.map((attempt) => (
        <details key={attempt} class="fold">
          <summary class="note soft">
            {t.attempt} {attempt}
          </summary>
          <Steps steps={stepsOf(ofAttempt(attempt), null)} />
        </details>
      ))}
    </div>
  );
}

function Steps({ steps }: { steps: readonly Step[] }) {
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
