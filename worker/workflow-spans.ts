// Runs of workflows as spans: reported by the sandbox through a sink, because it cannot send anything itself.
import { fileURLToPath } from 'node:url';
import type { InjectedSinks } from '@temporalio/worker';
import type { TracingSinks } from '../workflows/tracing.ts';
import type { Tracing } from '../runtime/tracing-types.ts';

/** Modules that the bundle of the workflows needs while tracing is on. */
export const TRACING_MODULES = [fileURLToPath(new URL('../workflows/tracing.ts', import.meta.url))];

export function workflowSpanSinks(tracing: Tracing): InjectedSinks<TracingSinks> {
  return {
    tracing: {
      runEnded: {
        fn: ({ workflowType, workflowId, runId, memo }, { isCompleted, ...span }) => {
          const requestId = memo?.['requestId'];
          tracing.add({
            ...span,
            name: `RunWorkflow:${workflowType}`,
            attributes: {
              temporalWorkflowId: workflowId,
              run_id: runId,
              'svc.run_completed': isCompleted,
              ...(typeof requestId === 'string' ? { 'svc.request_id': requestId } : {}),
            },
          });
        },
      },
    },
  };
}
