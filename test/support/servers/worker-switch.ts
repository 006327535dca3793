// The worker of a test's gateway, in this process: started and stopped as often as a test asks for it.
import type { WorkflowBundleOption } from '@temporalio/worker';
import type { Services } from '../../../api/services.ts';
import type { Config } from '../../../config/config.ts';
import type { Log } from '../../../log.ts';
import { installRuntime } from '../../../worker/runtime.ts';
import type { WebhookRelay } from '../../../worker/webhook-relay.ts';
import { bundleWorkflows, createWorkers, type Workers } from '../../../worker/workers.ts';
import { dependenciesOf } from './activity-dependencies.ts';

export interface WorkerSwitch {
  startWorker(): Promise<void>;
  stopWorker(): Promise<void>;
}

let bundle: Promise<WorkflowBundleOption> | undefined;

/** Starts and stops the worker, as often as a test asks for it. */
export function createWorkerSwitch(
  create: () => Promise<Workers>,
  startRelay: () => WebhookRelay,
): WorkerSwitch {
  let worker: { workers: Workers; running: Promise<void>; relay: WebhookRelay } | undefined;
  return {
    startWorker: async () => {
      const workers = await create();
      worker = { workers, running: workers.run(), relay: startRelay() };
    },
    stopWorker: async () => {
      worker?.workers.shutdown();
      await worker?.relay.stop();
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
  webhookDelaysMs: readonly number[],
): Promise<Workers> {
  // Installed once per process, before anything else uses Temporal's native runtime.
  if (!bundle) installRuntime(log);
  bundle ??= bundleWorkflows();
  return createWorkers({
    temporal: config.temporal,
    activitiesMax: 20,
    graceSeconds: config.workerGraceSeconds,
    log,
    workflowBundle: await bundle,
    dependencies: dependenciesOf(config, services, webhookDelaysMs),
  });
}
