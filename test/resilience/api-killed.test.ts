// The API is killed while tasks are created: accepted tasks are in the task log, the sweeper starts them, and
// they end.
import { expect } from 'chai';
import { findFreePort } from '../../dev/servers/ports.ts';
import { GENERATION_QUEUE } from '../../workflows/names.ts';
import { ageOpenTasks, sweepNow } from '../support/servers/engine.ts';
import { type TestUser } from '../support/servers/gateway.ts';
import { startTestSystem } from '../support/servers/test-system.ts';
import { createActor, type Actor, type Answer } from '../support/http/http.ts';
import { startApiProcess, untilSessionsEnd, type TestProcess } from '../support/servers/process.ts';
import { countSubmissions } from '../support/servers/sandbox.ts';
import {
  expectOneChargeAndSubmission,
  IMAGE_MODEL,
  readAvailable,
  uniqueWord,
  type OrderedTask,
} from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

describe('an API that is killed', () => {
  const system = startTestSystem();
  let api: TestProcess | undefined;

  afterEach(() => api?.kill());

  /** The owner as a caller of an API process with these additional settings. */
  async function atOwnApi(env: Record<string, string> = {}): Promise<Actor> {
    const started = await startApiProcess({ ...system.gateway.env, ...env });
    api = started.process;
    return createActor(
      () => started.baseUrl,
      () => ({ authorization: `Bearer ${system.owner.apiKey}` }),
    );
  }

  /** Nothing that it was asked is written any more afterwards. */
  async function killApi(): Promise<void> {
    await api?.kill();
    if (api) await untilSessionsEnd(system.gateway.em(), api);
  }

  const create = (actor: Actor, word: string): Promise<Answer> =>
    actor.post('/v1/images/generations', { model: IMAGE_MODEL, prompt: `${word} [[sandbox seconds=0.1]]` });
  const nowhere = async () => ({ TEMPORAL_ADDRESS: `127.0.0.1:${await findFreePort()}` });

  async function tasksOf(user: TestUser): Promise<{ id: string; status: string; admitted: boolean }[]> {
    return system.gateway.em().execute(`
      select id, status, admitted_at is not null as admitted from task where user_id = '${user.id}'`);
  }

  it('between its answer and the start: the sweeper starts the task', async () => {
    const caller = await atOwnApi(await nowhere());
    const word = uniqueWord();
    const { status, body } = await create(caller, word);
    await killApi();
    expect(status).to.equal(202);
    expect(await tasksOf(system.owner)).to.deep.equal([{ id: body.id, status: 'queued', admitted: false }]);
    expect(await sweepNow(system.gateway)).to.deep.equal({ started: 1, settled: 0 });
    await untilFinal(system.owner.session, body.id);
    const task: OrderedTask = { id: body.id, word };
    expect(await expectOneChargeAndSubmission(system.gateway, system.owner, task)).to.include({
      status: 'completed',
    });
  });

  it('after it answered 202 without the engine: the sweeper’s own workflow starts the task', async () => {
    const caller = await atOwnApi(await nowhere());
    const task: OrderedTask = { id: '', word: uniqueWord() };
    const startedAt = Date.now();
    const { status, body } = await create(caller, task.word);
    expect(status).to.equal(202);
    expect(body).to.include({ status: 'queued', creditsEstimate: 4 });
    expect(Date.now() - startedAt).to.be.below(2_000);
    task.id = body.id;
    await killApi();

    await ageOpenTasks(system.gateway);
    const sweep = await system.engine.client.workflow.start('sweep', {
      taskQueue: GENERATION_QUEUE,
      workflowId: 'sweep-drill',
      args: [],
    });
    await untilFinal(system.owner.session, task.id);
    await sweep.terminate('the drill is over');
    expect(await expectOneChargeAndSubmission(system.gateway, system.owner, task)).to.include({
      status: 'completed',
    });
  });

  it('after a cancellation that no engine heard: the task is cancelled, and never handed over', async () => {
    const caller = await atOwnApi(await nowhere());
    const { body } = await create(caller, uniqueWord());
    await killApi();
    await system.gateway.em().execute(`update task set cancel_requested_at = now() where id = '${body.id}'`);
    await sweepNow(system.gateway);
    expect(await untilFinal(system.owner.session, body.id)).to.include({
      status: 'cancelled',
      creditsCharged: 0,
    });
  });

  it('at random moments under creates: nothing accepted is lost, everything written ends, nobody pays twice', async () => {
    const answers: Answer[] = [];
    const words: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const caller = await atOwnApi();
      const creates = Promise.allSettled(
        Array.from({ length: 10 }, async () => {
          const word = uniqueWord();
          words.push(word);
          answers.push(await create(caller, word)); // or the process is gone
        }),
      );
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 500)); // the moment is the drill
      if (round === 3) await until('one is accepted', async () => answers.length > 0);
      await killApi();
      await creates;
    }
    expect(answers.filter(({ status }) => status !== 202)).to.deep.equal([]);
    const accepted = answers.map(({ body }) => body.id);
    const rows = await tasksOf(system.owner);
    expect(rows.map(({ id }) => id)).to.include.members(accepted);
    await sweepNow(system.gateway);
    let charged = 0;
    for (const { id } of rows) {
      const { status, creditsCharged } = await untilFinal(system.owner.session, id);
      expect(status).to.equal('completed');
      charged += creditsCharged;
    }
    expect(charged).to.equal(rows.length * 4);
    expect(await readAvailable(system.owner)).to.include({ balance: 1_000 - charged, reserved: 0 });
    const submissions = await Promise.all(
      words.map((word) => countSubmissions(system.gateway.sandboxUrl, word)),
    );
    expect(Math.max(...submissions)).to.equal(1);
    expect(submissions.filter((count) => count === 1)).to.have.length(rows.length);
  });

  it('with several sweepers at once: each task is started once', async () => {
    const caller = await atOwnApi(await nowhere());
    const created = await Promise.all(Array.from({ length: 6 }, () => create(caller, uniqueWord())));
    await killApi();
    await ageOpenTasks(system.gateway);
    await Promise.all([sweepNow(system.gateway), sweepNow(system.gateway), sweepNow(system.gateway)]);
    for (const { body } of created) {
      expect(await untilFinal(system.owner.session, body.id)).to.include({ status: 'completed' });
      expect(await system.engine.runsOf(body.id)).to.have.length(1);
    }
  });
});
