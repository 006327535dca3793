// Builds the workers of this process, one for each task queue, so that what one of them waits for holds no
// slot of another.
import { fileURLToPath } from 'node:url';
import {
  bundleWorkflowCode,
  IllegalStateError,
  NativeConnection,
  Worker,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import type { Registry } from 'prom-client';
import { createActivities } from '../activities/index.ts';
import type { ActivityDependencies } from '../activities/dependencies.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log.ts';
import {
  EARLIER_HAND_OVER_QUEUE,
  GENERATION_QUEUE,
  POLL_QUEUE,
  SOON_QUEUE,
  STORE_QUEUE,
  WEBHOOK_QUEUE,
  WITHDRAW_QUEUE,
} from '../workflows/names.ts';
import { createBoundary } from './boundary.ts';
import { SWEEPER_HEARTBEATS } from './heartbeats.ts';
import { observeActivities } from './observation.ts';
import { TRACING_MODULES, workflowSpanSinks } from './workflow-spans.ts';
import type { Tracing } from '../runtime/tracing-types.ts';

/**
 * Hand-overs under way at the same time in one process. A slot costs memory, not a thread or a connection.
 */
const HAND_OVER_SLOTS = 4_000;
/** Results that are copied, or wait until fewer of their vendor are (`activities/results.ts`). */
const STORE_SLOTS = 1_000;
/** Jobs waited for at the same time in one process. */
const POLL_SLOTS = 10_000;
/** Jobs that vendors are asked to stop at the same time, each for ten seconds at most. */
const WITHDRAW_SLOTS = 1_000;
/** For each attempt that may be under way: those beyond say that they find no place, and wait for no slot. */
const SLOTS_PER_WEBHOOK_ATTEMPT = 2;
/**
 * Runs of tasks that stay in memory, with about 90 KB each: more than are between two short steps at any
 * moment. One that waits long for its vendor may leave, and is replayed from its history when it goes on.
 */
const TASK_RUNS_CACHED = 1_000;
/** Runs of webhooks that stay in memory. */
const WEBHOOK_RUNS_CACHED = 1_000;
/**
 * Cancellation reaches a submission with the answer to a heartbeat, and `activities/hand-overs.ts` sends one
 * when it is asked for: the SDK must not hold it back.
 */
const HEARTBEAT_THROTTLE = '200ms';
/** After the grace, running activities have this long to notice that they are to stop. */
const FORCE_AFTER_GRACE_SECONDS = 4;

export interface WorkerOptions {
  temporal: Config['temporal'];
  /** Activities that may use the database at the same time; at most its connections. */
  activitiesMax: number;
  /**
   * How long running activities may go on after a stop was asked for; a call that is cut has an unknown
   * outcome.
   */
  graceSeconds: number;
  dependencies: ActivityDependencies;
  log: Log;
  /** Where activities are counted; not counted when left out. */
  registry?: Registry;
  tracing?: Tracing | null;
  /** Built from the sources when left out, which takes about a second. */
  workflowBundle?: WorkflowBundleOption;
}

export interface Workers {
  /** Resolves when all have stopped. */
  run(): Promise<void>;
  /** Whether all take work. */
  areRunning(): boolean;
  /** Stops taking work and lets running activities end. */
  shutdown(): void;
  close(): Promise<void>;
}

export async function createWorkers(options: WorkerOptions): Promise<Workers> {
  const { connectionOptions, namespace } = options.temporal;
  // Histories hold ids and small scalars: packing them costs more than it saves.
  const grpcCompression = { codec: 'none' } as const;
  const connection = await NativeConnection.connect({ ...connectionOptions, grpcCompression });
  const workflowBundle =
    options.workflowBundle ?? (await bundleWorkflows(options.tracing ? TRACING_MODULES : []));
  const shared = { connection, namespace, ...sharedOptionsOf(options) };
  const workers: Worker[] = [];
  for (const own of slotsOf(options, workflowBundle))
    workers.push(await Worker.create({ ...shared, ...own }));
  return combine(workers, connection, options.log);
}

/** The workers by their queues, each with what it does and how much of it at once. */
function slotsOf(options: WorkerOptions, workflowBundle: WorkflowBundleOption): OwnOptions[] {
  const { submit, poll, sendWebhook, abandonWebhook, ...soon } = createActivities(options.dependencies);
  const { store, withdraw } = soon; // runs of earlier releases ask for them among the others
  const { activitiesMax, graceSeconds, dependencies } = options;
  const grace = { shutdownGraceTime: `${graceSeconds}s` } as const;
  const runs = { workflowBundle, workflowTaskPollerBehavior: { type: 'autoscaling' } } as const;
  const handOver = {
    ...grace,
    maxConcurrentActivityTaskExecutions: HAND_OVER_SLOTS,
    maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE,
  } as const;
  const attempts = SLOTS_PER_WEBHOOK_ATTEMPT * dependencies.webhooks.attemptsMax;
  return [
    {
      ...{ ...runs, ...handOver, taskQueue: GENERATION_QUEUE, maxCachedWorkflows: TASK_RUNS_CACHED },
      // Runs that an earlier release began may have asked for the others here.
      activities: { ...soon, submit },
      maxConcurrentLocalActivityExecutions: activitiesMax,
    },
    {
      ...{ ...grace, taskQueue: SOON_QUEUE, activities: soon },
      maxConcurrentActivityTaskExecutions: activitiesMax,
    },
    { ...handOver, taskQueue: EARLIER_HAND_OVER_QUEUE, activities: { submit } },
    {
      ...{ ...grace, taskQueue: STORE_QUEUE, activities: { store } },
      maxConcurrentActivityTaskExecutions: STORE_SLOTS,
    },
    // A poller that stops is resumed elsewhere with the next look: it needs no grace. Runs that are under way
    // during an upgrade may have asked for a withdrawal here.
    {
      ...{ taskQueue: POLL_QUEUE, activities: { poll, withdraw } },
      maxConcurrentActivityTaskExecutions: POLL_SLOTS,
    },
    {
      ...{ ...grace, taskQueue: WITHDRAW_QUEUE, activities: { withdraw } },
      maxConcurrentActivityTaskExecutions: WITHDRAW_SLOTS,
    },
    // Runs and attempts: a burst of them keeps no task waiting.
    {
      ...{ ...runs, ...grace, taskQueue: WEBHOOK_QUEUE, maxCachedWorkflows: WEBHOOK_RUNS_CACHED },
      activities: { sendWebhook, abandonWebhook },
      maxConcurrentActivityTaskExecutions: attempts,
    },
  ];
}

type OwnOptions = Omit<Parameters<typeof Worker.create>[0], 'connection' | 'namespace'>;

/** What all workers of the process have in common: what wraps an activity, and the end of a shutdown. */
function sharedOptionsOf({ log, registry, tracing, graceSeconds }: WorkerOptions) {
  const boundary = createBoundary(log);
  const counting = registry && observeActivities(registry);
  return {
    activityTaskPollerBehavior: { type: 'autoscaling' } as const,
    // The boundary is the innermost: what the others see of an error is what the history shows of it.
    interceptors: {
      activity: [
        ...(tracing ? [tracing.activities] : []),
        ...(counting ? [() => ({ inbound: counting })] : []),
        () => ({ inbound: SWEEPER_HEARTBEATS }),
        () => ({ inbound: boundary }),
      ],
    },
    ...(tracing ? { sinks: workflowSpanSinks(tracing) } : {}),
    shutdownForceTime: `${graceSeconds + FORCE_AFTER_GRACE_SECONDS}s` as const,
  };
}

function combine(workers: readonly Worker[], connection: NativeConnection, log: Log): Workers {
  return {
    run: async () => {
      await Promise.all(workers.map((worker) => runToEnd(worker, log)));
    },
    areRunning: () => workers.every((worker) => worker.getState() === 'RUNNING'),
    shutdown: () => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    },
    close: () => connection.close(),
  };
}

/**
 * Runs it until it has stopped. Version 1.24.0 of the SDK then now and again fails to let go of its native
 * part, twice in about thirty stops of tests: all work is done by then, and the end of the process frees it.
 */
async function runToEnd(worker: Worker, log: Log): Promise<void> {
  try {
    await worker.run();
  } catch (error) {
    const isKept = error instanceof IllegalStateError && error.message.startsWith('Worker still in use');
    if (!isKept || worker.getState() !== 'STOPPED') throw error;
    log.warn({ err: error }, 'a worker has stopped, and its memory is freed with the process');
  }
}

/**
 * Bundles the workflows for Temporal's sandbox; fails if they import what they must not. `interceptors` are
 * paths of modules that wrap the workflows.
 */
export async function bundleWorkflows(interceptors: string[] = []): Promise<WorkflowBundleOption> {
  const workflowsPath = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));
  // No module of these has a state of its own: evaluated once, not for each run.
  const preloadModules = ['@temporalio/workflow', workflowsPath];
  return bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: interceptors,
    preloadModules,
    logger: SILENT,
  });
}

const ignore = (): void => undefined;
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore, log: ignore };
