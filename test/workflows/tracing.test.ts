// A task that goes on in a further run of its workflow stays one trace.
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { expect } from 'chai';
import type { FinishedSpan, Tracing } from '../../runtime/tracing-types.ts';
import { workflowIdOf } from '../../workflows/names.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import { limitWaitingEvents } from '../support/servers/waiting-events.ts';
import { orderVideo, untilPolled } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const REQUEST_SPAN_ID = 'b7ad6b7169203331';
/** The header in which Temporal's client and activities carry a trace. */
const TRACE_HEADER = '_tracer-data';

interface TracedActivity {
  runId: string;
  name: string;
  /** Empty where the activity was asked for without a trace. */
  parentSpanId: string;
}

describe('the trace of a task that waits for a slot until it goes on in a new run', () => {
  const spans: FinishedSpan[] = [];
  const activities: TracedActivity[] = [];
  const system = startTestSystem({
    env: { SVC_RUNNING_TASKS_PER_USER: '1' },
    tracing: playTracing(spans, activities),
    changeWorkflows: (code) => limitWaitingEvents(code, 12), // the second look
  });

  it('has each run below the run before it, which counts as completed', async () => {
    const { gateway, engine, owner } = system;
    const running = await orderVideo(owner.session, 'outcome=stuck');
    await untilPolled(gateway, running);
    const waiting = await orderVideo(owner.session);
    await until('it waits in a further run', async () => (await engine.runsOf(waiting.id)).length > 1);
    expect((await owner.session.delete(`/api/tasks/${running.id}`)).status).to.equal(200);
    expect((await untilFinal(owner.session, waiting.id)).status).to.equal('completed');
    expect(await engine.untilClosed(waiting.id)).to.equal('COMPLETED');

    const spansOf = (taskId: string) =>
      spans.filter(({ attributes }) => attributes['temporalWorkflowId'] === workflowIdOf(taskId));
    const { runId } = await engine.handleOf(waiting.id).describe();
    const runs = await until('the spans of its runs have come', async () => {
      const found = spansOf(waiting.id);
      return found.some(({ attributes }) => attributes['run_id'] === runId) && found;
    });
    expect(runs).to.have.length.greaterThan(1);
    for (const [index, run] of runs.entries()) {
      const parentSpanId = runs[index - 1]?.spanId ?? REQUEST_SPAN_ID;
      expect(run, `run ${index}`).to.include({ traceId: TRACE_ID, parentSpanId });
      expect(run.attributes, `run ${index}`).to.include({ 'svc.run_completed': true });
    }
    const submit = activities.find((activity) => activity.runId === runId && activity.name === 'submit');
    expect(submit?.parentSpanId).to.equal(runs.at(-1)?.spanId);
    const cancelled = await until('the span of the other task has come', async () => spansOf(running.id)[0]);
    expect(cancelled.attributes).to.include({ 'svc.run_completed': false });
  });
});

/** Begins each workflow below the same span of a request, and keeps what workflows report and pass on. */
function playTracing(spans: FinishedSpan[], activities: TracedActivity[]): Tracing {
  const traceparent = `00-${TRACE_ID}-${REQUEST_SPAN_ID}-01`;
  const header = { [TRACE_HEADER]: defaultPayloadConverter.toPayload({ traceparent }) };
  return {
    startRequest: () => ({ run: (work) => work(), end: () => undefined }),
    step: (_name, _attributes, work) => work(),
    add: (span) => void spans.push(span),
    workflowClient: {
      start: (input, next) => next({ ...input, headers: { ...input.headers, ...header } }),
    },
    activities: ({ info: { activityType: name, workflowExecution } }) => ({
      inbound: {
        execute: (input, next) => {
          const runId = workflowExecution?.runId ?? '';
          activities.push({ runId, name, parentSpanId: readSpanId(input.headers) });
          return next(input);
        },
      },
    }),
    stop: async () => undefined,
  };
}

/** The id of the span in the headers; an empty text where there is no trace. */
function readSpanId({ [TRACE_HEADER]: payload }: Headers): string {
  const carrier = payload ? defaultPayloadConverter.fromPayload<{ traceparent: string }>(payload) : null;
  return carrier?.traceparent.split('-')[2] ?? '';
}
