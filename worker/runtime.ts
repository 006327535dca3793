// The engine's native runtime: one per process, its words go through our log.
import { DefaultLogger, Runtime, type LogEntry } from '@temporalio/worker';
import type { Log } from '../log.ts';

/** Call once, before anything else touches the engine. Signals are left to the process itself. */
export function installRuntime(log: Log): void {
  Runtime.install({
    logger: new DefaultLogger('WARN', (entry) => passOn(entry, log)),
    // A vendor's look that is still running when its task was cancelled makes the core warn; that is our
    // intention.
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
    shutdownSignals: [],
  });
}

/**
 * How a task ends and that the polling worker has no workflows is no news; the rest keeps its message and its
 * ids.
 */
function passOn({ level, message, meta }: LogEntry, log: Log): void {
  if (/^(Workflow failed|No workflows registered)/.test(message)) return;
  const { workflowId, activityType, taskQueue } = meta ?? {};
  log[level === 'ERROR' ? 'error' : 'warn']({ workflowId, activityType, taskQueue }, message);
}
