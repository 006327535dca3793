// Temporal's native runtime: one per process, logging through our log.
import { DefaultLogger, Runtime, type LogEntry } from '@temporalio/worker';
import type { Log } from '../log.ts';

/** Call once, before any other use of Temporal. Signals are left to the process itself. */
export function installRuntime(log: Log): void {
  Runtime.install({
    logger: new DefaultLogger('WARN', (entry) => passOn(entry, log)),
    // The core warns when a poll still runs while its task was cancelled, which is intended here.
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
    shutdownSignals: [],
  });
}

/**
 * Passes an entry on with its message and ids; two kinds are left out, because they are normal here: failed
 * workflows (a task that failed), and a polling worker without workflows.
 */
function passOn({ level, message, meta }: LogEntry, log: Log): void {
  if (/^(Workflow failed|No workflows registered)/.test(message)) return;
  const { workflowId, activityType, taskQueue } = meta ?? {};
  log[level === 'ERROR' ? 'error' : 'warn']({ workflowId, activityType, taskQueue }, message);
}
