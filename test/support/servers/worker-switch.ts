// The worker of a test's gateway, in this process: started and stopped as often as a test asks for it.
import type { WorkflowBundleOption } from '@temporalio/worker';
import type { WebhookDependencies } from '../../../activities/dependencies.ts';
import type { Services } from '../../../api/services.ts';
import type { Config } from '../../../config/config.ts';
import type { Log } from '../../../log.ts';
import type { Tracing } from '../../../runtime/tracing-types.ts';
import { installRuntime } from '../../../worker/runtime.ts';
import type { WebhookOutbox } from '../../../worker/webhooks.ts';
import { bundleWorkflows, createWorkers, type Workers } from '../../../worker/workers.ts';
import { TRACING_MODULES } from '../../../worker/workflow-spans.ts';
import { dependenciesOf } from './activity-dependencies.ts';

/** Tests do not wait for receivers that hang. */
const OUTBOX_GRACE_MS = 200;

export interface WorkerSwitch {
  startWorker(): Promise<void>;
  stopWorker(): Promise<void>;
}

/** How a test's worker differs from the usual one. */
export interface TestWorkerOptions {
  /** What the worker is given for webhooks, instead of the usual. */
  webhooks?: Partial<WebhookDependencies>;
  /** Changes the bundled code of the workflows, such as a limit that no test could wait for. */
  changeWorkflows?: (code: string) => string;
  /** Traces tasks, from the API's start of the workflow on; not traced when left out. */
  tracing?: Tracing;
}

let isRuntimeInstalled = false;
let untracedBundle: Promise<WorkflowBundleOption> | undefined;

/** Starts and stops the worker, as often as a test asks for it. */
export function createWorkerSwitch(
  create: () => Promise<Workers>,
  startOutbox: () => WebhookOutbox,
): WorkerSwitch {
  let worker: { workers: Workers; running: Promise<void>; outbox: WebhookOutbox } | undefined;
  return {
    startWorker: async () => {
      const workers = await create();
      worker = { workers, running: workers.run(), outbox: startOutbox() };
    },
    stopWorker: async () => {
      worker?.workers.shutdown();
      await worker?.outbox.stop(OUTBOX_GRACE_MS);
      await worker?.running;
      await worker?.workers.close();
      worker = undefined;
    },
  };
}

export async function createTestWorkers(
  config: Config,
  services: Services,
  log: Log,
  { webhooks = {}, changeWorkflows = (code) => code, tracing }: TestWorkerOptions,
): Promise<Workers> {
  // Installed once per process, before anything else uses Temporal's native runtime.
  if (!isRuntimeInstalled) installRuntime(log);
  isRuntimeInstalled = true;
  const bundle = tracing ? bundleWorkflows(TRACING_MODULES) : (untracedBundle ??= bundleWorkflows());
  return createWorkers({
    temporal: config.temporal,
    activitiesMax: 20,
    graceSeconds: config.workerGraceSeconds,
    log,
    tracing: tracing ?? null,
    workflowBundle: changed(await bundle, changeWorkflows),
    dependencies: dependenciesOf(config, services, webhooks),
  });
}

function changed(made: WorkflowBundleOption, change: (code: string) => string): WorkflowBundleOption {
  return 'code' in made ? { ...made, code: change(made.code) } : made;
}
