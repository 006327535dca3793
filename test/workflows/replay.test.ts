// Recorded runs replay with the workflow as it is: a change that would break runs in flight fails here. After
// a change that is meant to break them, record anew: RECORD_HISTORIES=1 npm test --
// test/workflows/replay.test.ts; names instead of 1 record these only, as for a new story.
import { expect } from 'chai';
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { createLog } from '../../log.ts';
import { installRuntime } from '../../worker/runtime.ts';
import { TRACING_MODULES } from '../../worker/workflow-spans.ts';
import { bundleWorkflows } from '../../worker/workers.ts';
import { decodedPayloads } from '../support/everything.ts';
import { readHistories, recordHistories, type RecordedHistory } from '../support/servers/histories.ts';
import { limitWaitingEvents, limitWaitingSeconds } from '../support/servers/waiting-events.ts';

describe('recorded histories', () => {
  let workflowBundle: WorkflowBundleOption;
  let recorded: RecordedHistory[];

  before(async function () {
    const wanted = process.env['RECORD_HISTORIES'];
    if (wanted) {
      this.timeout(300_000);
      await recordHistories(wanted === '1' ? 'all' : wanted.split(','));
    }
    workflowBundle = await bundleWorkflows();
    recorded = readHistories();
  });

  async function replay(
    histories: readonly RecordedHistory[],
    bundle = workflowBundle,
  ): Promise<Map<string, Error | undefined>> {
    installQuietly();
    const results = new Map<string, Error | undefined>();
    for await (const { workflowId, error } of Worker.runReplayHistories(
      { workflowBundle: bundle },
      histories,
    ))
      results.set(workflowId, error);
    return results;
  }

  it('tell every way a webhook can go', () => {
    const names = ['webhook-delivered', 'webhook-failed', 'webhook-cancelled'];
    expect(recorded.map(({ name }) => name)).to.include.members(names);
  });

  it('tell every way a task can go', () => {
    expect(recorded.map(({ name }) => name)).to.include.members([
      'image-completed',
      'video-completed',
      'upstream-failed',
      'refused-reservation',
      'cancelled-while-polling',
      'retry-completed',
      'deadline-passed',
      'waited-for-a-slot',
      'completed-in-one-step',
      'refused-in-one-step',
      'queued-in-one-step',
    ]);
  });

  it('replay with the workflow as it is', async () => {
    const results = await replay(recorded);
    for (const { name, workflowId } of recorded) expect(results.get(workflowId), name).to.equal(undefined);
    expect(results.size).to.equal(recorded.length);
  });

  it('replay with tracing around the workflow, so that it can be switched on and off', async () => {
    const results = await replay(recorded, await bundleWorkflows(TRACING_MODULES));
    for (const { name, workflowId } of recorded) expect(results.get(workflowId), name).to.equal(undefined);
    expect(results.size).to.equal(recorded.length);
  });

  it('replay although they took a slot later than a run takes one now: earlier releases did not look', async () => {
    if (!('code' in workflowBundle)) throw new Error('the bundle is a file, not code');
    const code = limitWaitingSeconds(workflowBundle.code, 0);
    const ofTasks = recorded.filter(({ workflowId }) => workflowId.startsWith('task-'));
    for (const [workflowId, error] of await replay(ofTasks, { ...workflowBundle, code }))
      expect(error, workflowId).to.equal(undefined);
  });

  it('replay although they waited longer than a run waits now: earlier releases set no end to it', async () => {
    if (!('code' in workflowBundle)) throw new Error('the bundle is a file, not code');
    const code = limitWaitingEvents(workflowBundle.code, 1);
    const waited = recorded.filter(({ name }) => ['waited-for-a-slot', 'queued-in-one-step'].includes(name));
    const results = [...(await replay(waited, { ...workflowBundle, code })).values()];
    expect(results).to.deep.equal([undefined, undefined]);
  });

  it('do not replay with a workflow that leaves out a step', async () => {
    if (!('code' in workflowBundle)) throw new Error('the bundle is a file, not code');
    const step = 'await admit(task)';
    expect(workflowBundle.code.split(step)).to.have.length(2);
    const changed = {
      ...workflowBundle,
      code: workflowBundle.code.replace(step, "{ status: 'in_progress' }"),
    };
    const ofTasks = recorded.filter(({ workflowId }) => workflowId.startsWith('task-'));
    const errors = [...(await replay(ofTasks, changed)).values()].filter((error) => error);
    // Runs that ended at once replay all the same.
    expect(errors).to.have.length.greaterThan(ofTasks.length / 2);
    expect(errors[0]).to.be.instanceOf(DeterminismViolationError);
  });

  it('do not replay when a step has another name', async () => {
    const original = recorded.find(({ name }) => name === 'video-completed');
    const broken = JSON.parse(JSON.stringify(original).replaceAll('"name":"store"', '"name":"stash"'));
    const [error] = (await replay([broken])).values();
    expect(error).to.be.instanceOf(DeterminismViolationError);
  });

  it('do not replay when a step is missing', async () => {
    const original = recorded.find(({ name }) => name === 'image-completed');
    if (!original) throw new Error('there is no such history');
    const withoutReserve = original.history.events.filter((event) => !isMarkerOf(event, 'reserve'));
    const [error] = (await replay([{ ...original, history: { events: withoutReserve } }])).values();
    expect(error).to.be.instanceOf(Error);
  });

  it('hold no prompt, no path and no name of a host', () => {
    for (const { name, history } of recorded) {
      const json = JSON.stringify(history);
      const text = [json, ...decodedPayloads(json)].join('\n');
      expect(text, name).not.to.match(
        /\[\[sandbox|order\d+x|\/home\/|\/work\/|\/tmp\/|file:\/\/|127\.0\.0\.1|\d+@/,
      );
    }
  });
});

function isMarkerOf(event: object, activity: string): boolean {
  if (!('markerRecordedEventAttributes' in event)) return false;
  return decodedPayloads(JSON.stringify(event)).some((text) => text.includes(`"${activity}"`));
}

/** Another test file of this process may have installed a runtime. */
function installQuietly(): void {
  try {
    installRuntime(createLog({ process: 'test', level: 'silent' }));
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'IllegalStateError') throw error;
  }
}
