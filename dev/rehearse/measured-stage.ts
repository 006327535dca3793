// What the stage has in addition where throughput is measured: raised limits, and the worker of the floor.
import { RAISED_LIMITS } from '../../bench/raised-limits.ts';

/** Whether this rehearsal measures. */
export const IS_MEASURED = process.argv.includes('--measure');
/** The service of the floor's worker; it has no container until it is scaled. */
export const BARE = 'bare';

/** What an override adds. The floor's worker has the image, the limits and the Temporal of the gateway's. */
export function measureStage(worker: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { healthcheck: _, depends_on: __, ...same } = worker;
  const raised = { environment: { ...RAISED_LIMITS } };
  return {
    ...Object.fromEntries(['api', 'second-api', 'worker', 'second-worker'].map((name) => [name, raised])),
    [BARE]: {
      ...same,
      command: ['node', 'bench/bare/worker.ts'],
      volumes: ['./bench:/app/bench:ro'],
      scale: 0,
    },
  };
}
