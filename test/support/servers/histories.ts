// Records histories of the workflow, one per course of a task, in the form of `temporal workflow show
// --output json`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { freezeAccount } from '../accounts.ts';
import { webhookWorkflowIdOf } from '../../../workflows/names.ts';
import { makeWebhook, startReceiver } from '../webhooks.ts';
import { openEngine, readHistory, readHistoryOf, type HistoryJson, type TestEngine } from './engine.ts';
import { startGateway, type TestGateway, type TestUser } from './gateway.ts';
import { orderImage, orderVideo, untilPolled, untilSubmitted, type OrderedTask } from '../tasks.ts';
import { untilFinal, untilStatus } from '../until.ts';

const HISTORIES_FOLDER = join(import.meta.dirname, '../../histories');

interface Scene {
  gateway: TestGateway;
  engine: TestEngine;
  owner: TestUser;
}

type Story = (scene: Scene) => Promise<OrderedTask>;

const refuseReservation: Story = async ({ gateway, owner }) => {
  await gateway.stopWorker();
  const task = await orderVideo(owner.session);
  await freezeAccount(gateway.em(), owner.id);
  await gateway.startWorker();
  return task;
};

const waitForSlot: Story = async ({ gateway, owner }) => {
  const first = await orderVideo(owner.session, 'seconds=1');
  await untilSubmitted(gateway, first);
  return orderVideo(owner.session);
};

/**
 * Each story plays one course of a task and resolves to the task whose newest run is recorded. Those of the
 * same course without `in-one-step` were recorded when estimate, reserve and begin were steps of their own.
 */
const STORIES: Record<string, Story> = {
  'completed-in-one-step': ({ owner }) => orderImage(owner.session),
  'refused-in-one-step': refuseReservation,
  'queued-in-one-step': waitForSlot,
  'image-completed': ({ owner }) => orderImage(owner.session),
  'video-completed': ({ owner }) => orderVideo(owner.session, 'seconds=0.5'),
  'upstream-failed': ({ owner }) => orderVideo(owner.session, 'seconds=0 outcome=fail'),
  'upstream-refused': ({ owner }) => orderImage(owner.session, 'submit=400'),
  'outcome-unknown': ({ owner }) => orderVideo(owner.session, 'submit=reset'),
  'deadline-passed': ({ owner }) => orderVideo(owner.session, 'outcome=stuck'),
  'refused-reservation': refuseReservation,
  'cancelled-before-it-began': async ({ gateway, owner }) => {
    await gateway.stopWorker();
    const task = await orderVideo(owner.session);
    await gateway.services.taskStarts.underWay(task.id);
    await owner.session.delete(`/api/tasks/${task.id}`);
    await gateway.startWorker();
    return task;
  },
  'cancelled-while-submitting': async ({ gateway, owner }) => {
    const task = await orderImage(owner.session, 'seconds=30');
    await untilSubmitted(gateway, task);
    await owner.session.delete(`/api/tasks/${task.id}`);
    return task;
  },
  'cancelled-while-polling': async ({ gateway, owner }) => {
    const task = await orderVideo(owner.session, 'outcome=stuck');
    await untilPolled(gateway, task);
    await owner.session.delete(`/api/tasks/${task.id}`);
    return task;
  },
  'cancelled-too-late': async ({ gateway, owner }) => {
    const task = await orderVideo(owner.session, 'seconds=0 poll=500*1');
    await untilPolled(gateway, task);
    await owner.session.delete(`/api/tasks/${task.id}`);
    return task;
  },
  'retry-completed': async ({ engine, owner }) => {
    const task = await orderVideo(owner.session, 'seconds=0 outcome=fail*1');
    await untilStatus(owner.session, task.id, 'failed');
    await engine.untilClosed(task.id);
    await owner.session.post(`/api/tasks/${task.id}/retry`);
    return task;
  },
  'waited-for-a-slot': waitForSlot,
};

/**
 * Each sends a test to a receiver that refuses it first and then answers with `status`; an operator cancels
 * the one that hangs.
 */
const WEBHOOK_STORIES: Record<string, { status: number | null }> = {
  'webhook-delivered': { status: 204 },
  'webhook-failed': { status: 500 },
  'webhook-cancelled': { status: null },
};

/** Plays the stories of these names, or every story, and writes their histories to the folder. */
export async function recordHistories(names: readonly string[] | 'all'): Promise<void> {
  const isWanted = ([name]: readonly [string, unknown]): boolean => names === 'all' || names.includes(name);
  const gateway = await startGateway({
    env: {
      SVC_TASK_DEADLINE_SECONDS: '3',
      SVC_RUNNING_TASKS_PER_USER: '1',
    },
    webhooks: { retryDelaysMs: [50] },
  });
  const engine = await openEngine(gateway);
  try {
    for (const [name, play] of Object.entries(STORIES).filter(isWanted)) {
      const owner = await gateway.createUser(1_000);
      const task = await play({ gateway, engine, owner });
      await untilFinal(owner.session, task.id);
      await engine.untilClosed(task.id);
      write(name, await readHistory(engine, task.id));
    }
    for (const [name, { status }] of Object.entries(WEBHOOK_STORIES).filter(isWanted)) {
      const owner = await gateway.createUser();
      const receiver = await startReceiver((res, { seen }) => {
        if (seen === 1) res.writeHead(500).end();
        else if (status !== null) res.writeHead(status).end();
      });
      const { id } = await makeWebhook(owner.session, { url: receiver.url });
      const { body } = await owner.session.post(`/api/webhooks/${id}/test`);
      const workflowId = webhookWorkflowIdOf(body.data.id);
      await receiver.until('/', 2);
      const run = engine.client.workflow.getHandle(workflowId);
      if (status === null) await run.cancel();
      await run.result().catch(() => undefined);
      write(name, await readHistoryOf(run));
      await receiver.close();
    }
  } finally {
    await engine.close();
    await gateway.stop();
  }
}

function write(name: string, history: HistoryJson): void {
  const text = JSON.stringify(withoutHostNames(history));
  writeFileSync(join(HISTORIES_FOLDER, `${name}.json`), `${text}\n`);
}

export interface RecordedHistory {
  name: string;
  workflowId: string;
  history: HistoryJson;
}

export function readHistories(): RecordedHistory[] {
  const files = readdirSync(HISTORIES_FOLDER).filter((file) => file.endsWith('.json'));
  return files.map((file) => {
    const history = JSON.parse(readFileSync(join(HISTORIES_FOLDER, file), 'utf8')) as HistoryJson;
    const started = history.events[0]?.['workflowExecutionStartedEventAttributes'] as { workflowId: string };
    return { name: basename(file, '.json'), workflowId: started.workflowId, history };
  });
}

/** Removes traces of the recording machine: names of processes and hosts, stacks with their paths. */
function withoutHostNames(history: HistoryJson): HistoryJson {
  return JSON.parse(
    JSON.stringify(history, (name, value: unknown) => {
      if (name === 'stackTrace') return undefined;
      if (name === 'identity') return 'recorder';
      if (name === 'binaryChecksum' || name === 'buildId') return 'recorded';
      return typeof value === 'string' && /^\d+@[\w.-]+$/.test(value) ? 'recorder' : value;
    }),
  ) as HistoryJson;
}
