// One trace from the request to the vendor and back, and nothing in it that a caller wrote.
import { expect } from 'chai';
import { openEngine } from '../support/servers/engine.ts';
import { createCleanup } from '../support/cleanup.ts';
import { startCollector, type Collector } from '../support/servers/collector.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { createActor, type Actor } from '../support/http/http.ts';
import { startApiProcess, startWorkerProcess, type TestProcess } from '../support/servers/process.ts';
import { IMAGE_MODEL } from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const CANARY = 'canary-0815-canary';

describe('tracing', () => {
  const cleanup = createCleanup();
  let collector: Collector;
  let gateway: TestGateway;
  let worker: TestProcess;
  let api: TestProcess;
  let owner: TestUser;
  let caller: Actor;

  before(async () => {
    collector = await startCollector();
    cleanup.later(async () => collector.close());
    gateway = await startGateway({ worker: false });
    cleanup.later(() => gateway.stop());
    const env = {
      ...gateway.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
    };
    worker = await startWorkerProcess(env);
    cleanup.later(() => worker.kill());
    const started = await startApiProcess(env);
    api = started.process;
    cleanup.later(() => api.kill());
    owner = await gateway.createUser();
    caller = createActor(
      () => started.baseUrl,
      () => ({ authorization: `Bearer ${owner.apiKey}` }),
    );
  });
  after(() => cleanup.run());

  it('shows a task as one trace under the caller’s own: request, workflow, activities, vendor', async () => {
    const created = await caller.post(
      `/v1/images/generations?x=${CANARY}`,
      { model: IMAGE_MODEL, prompt: `${CANARY} [[sandbox seconds=0.1]]` },
      {
        traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`,
        tracestate: `vendor=${CANARY}`,
        baggage: `text=${CANARY}`,
        'x-request-id': 'traced-1',
      },
    );
    expect(created.status).to.equal(202);
    const taskId: string = created.body.id;
    expect((await untilFinal(owner.session, taskId)).status).to.equal('completed');

    const names = await until('all spans have come', async () => {
      const found = collector.spans().filter(({ traceId }) => traceId === TRACE_ID);
      const names = new Set(found.map(({ name }) => name));
      return names.has('RunWorkflow:generate') && names.has('POST /v1/images/generations') && names;
    });
    expect([...names]).to.include.members([
      'POST /v1/images/generations',
      'StartWorkflow:generate',
      'RunWorkflow:generate',
      'RunActivity:submit',
      'upstream submit',
      'RunActivity:charge',
    ]);
    const spans = collector.spans().filter(({ traceId }) => traceId === TRACE_ID);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const ancestors = (name: string): string[] => {
      const path: string[] = [];
      for (
        let span = spans.find((span) => span.name === name);
        span;
        span = byId.get(span.parentSpanId ?? '')
      )
        path.push(span.name);
      return path;
    };
    expect(ancestors('upstream submit')).to.deep.equal([
      'upstream submit',
      'RunActivity:submit',
      'RunWorkflow:generate',
      'StartWorkflow:generate',
      'POST /v1/images/generations',
    ]);
    const request = spans.find(({ name }) => name === 'POST /v1/images/generations');
    expect(request?.service).to.equal('svc-api');
    expect(request?.parentSpanId).to.equal('b7ad6b7169203331');
    expect(request?.attributes).to.include({
      'http.route': '/v1/images/generations',
      'http.response.status_code': 202,
      'svc.request_id': 'traced-1',
      'svc.task_id': taskId,
      'svc.user_id': owner.id,
    });
    const run = spans.find(({ name }) => name === 'RunWorkflow:generate');
    expect(run?.service).to.equal('svc-worker');
    expect(run?.attributes).to.include({ 'svc.task_id': taskId, 'svc.request_id': 'traced-1' });
    expect(spans.find(({ name }) => name === 'upstream submit')?.attributes).to.include({
      'svc.provider': 'openai-images',
      'gen_ai.provider.name': 'openai',
      'gen_ai.operation.name': 'generate_content',
      'gen_ai.request.model': IMAGE_MODEL,
    });
  });

  it('names model, upstream and tokens of a chat call, and nothing of its content', async () => {
    const { status, body } = await caller.post(
      '/v1/chat/completions',
      { model: 'gpt-6-luna', messages: [{ role: 'user', content: `${CANARY} [[sandbox tokens=7]]` }] },
      { 'x-request-id': 'chat-1' },
    );
    expect(status).to.equal(200);
    const span = await until('the span of the call has come', async () =>
      collector.spans().find(({ attributes }) => attributes['svc.request_id'] === 'chat-1'),
    );
    expect(span.name).to.equal('POST /v1/chat/completions');
    expect(span.attributes).to.include({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-6-luna',
      'gen_ai.usage.input_tokens': body.usage.prompt_tokens,
      'gen_ai.usage.output_tokens': body.usage.completion_tokens,
    });
  });

  it('keeps request id and task id in the workflow’s memo', async () => {
    const { body } = await caller.post(
      '/v1/images/generations',
      { model: IMAGE_MODEL, prompt: 'a cat [[sandbox seconds=0]]' },
      { 'x-request-id': 'memo-1' },
    );
    await untilFinal(owner.session, body.id);
    const engine = await openEngine(gateway);
    const { memo } = await engine.handleOf(body.id).describe();
    await engine.close();
    expect(memo).to.deep.equal({ requestId: 'memo-1', taskId: body.id });
  });

  it('tells how a vendor failed by its class, and holds nothing that a caller or a vendor wrote', async () => {
    const { body } = await caller.post('/v1/images/generations', {
      model: IMAGE_MODEL,
      prompt: `${CANARY} [[sandbox submit=400]]`,
    });
    expect((await untilFinal(owner.session, body.id)).status).to.equal('failed');
    await until('the failed call has come', async () =>
      collector
        .spans()
        .some(({ name, attributes }) => name === 'upstream submit' && attributes['error.type'] === 'invalid'),
    );
    await api.stop();
    await worker.stop();
    expect(collector.text()).not.to.include(CANARY).and.not.include(owner.apiKey);
    expect(collector.text()).not.to.match(/stacktrace|\.ts:\d+/);
  });
});
