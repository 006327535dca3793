// A worker is killed at each step of a task, and its vendor tells the next one something else: work is handed
// over once, what was delivered is charged once, and a failure costs nothing.
import type { ServerResponse } from 'node:http';
import { ApplicationFailure } from '@temporalio/common';
import { expect } from 'chai';
import { PNG, sendJson, startStandIn, type Received, type StandIn } from '../providers/stand-in.ts';
import { createCleanup } from '../support/cleanup.ts';
import { openEngine, type TestEngine } from '../support/servers/engine.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { holdSteps, type HeldStep } from '../support/servers/held-steps.ts';
import { startWorkerProcess, untilSessionsEnd } from '../support/servers/process.ts';
import {
  countCharges,
  orderImage,
  orderVideo,
  readAvailable,
  readReservations,
  type OrderedTask,
} from '../support/tasks.ts';
import { until, untilFinal } from '../support/until.ts';

/** The beginning of an MP4 file, which is all that its type is told by. */
const MP4 = Buffer.from('000000146674797069736f6d0000000069736f6d', 'hex');
const CREDITS = 1_000;

/** What the worker waits for when it is killed: a statement, or the vendor's answer to such a request. */
type Waits = { statement: HeldStep; andThen: 'is lost' | 'commits' } | { vendor: 'submit' | 'poll' | 'file' };
/** What the vendor says of the job afterwards, and whether the file is still there. */
type Afterwards = 'done' | 'done for more' | 'done elsewhere' | 'failed' | 'failed and gone' | 'unknown';
type End = [outcome: string, handedOver: number, charged: number];

const lost = (statement: HeldStep): Waits => ({ statement, andThen: 'is lost' });
const unheard = (statement: HeldStep): Waits => ({ statement, andThen: 'commits' });
const UNKNOWN = 'upstream_outcome_unknown';

const DRILLS: [kind: 'video' | 'image', where: string, waits: Waits, after: Afterwards, end: End][] = [
  ['video', 'before the intent is written', lost('sending'), 'done', ['completed', 1, 10]],
  ['video', 'when the intent is written', unheard('sending'), 'done', [UNKNOWN, 0, 0]],
  ['video', 'while the vendor is asked', { vendor: 'submit' }, 'done', [UNKNOWN, 1, 0]],
  ['video', 'before the job is recorded', lost('accepted'), 'done', [UNKNOWN, 1, 0]],
  ['video', 'when the job is recorded', unheard('accepted'), 'failed', ['upstream_error', 1, 0]],
  ['video', 'while polling', { vendor: 'poll' }, 'unknown', ['upstream_error', 1, 0]],
  ['video', 'before the success is recorded', lost('succeeded'), 'failed', ['upstream_error', 1, 0]],
  ['video', 'when the success is recorded', unheard('succeeded'), 'failed', ['completed', 1, 10]],
  ['video', 'when the success is recorded', unheard('succeeded'), 'done for more', ['completed', 1, 10]],
  ['video', 'when the success is recorded', unheard('succeeded'), 'done elsewhere', ['completed', 1, 10]],
  ['video', 'when the success is recorded', unheard('succeeded'), 'unknown', ['result_unavailable', 1, 0]],
  ['video', 'while the file is copied', { vendor: 'file' }, 'failed and gone', ['result_unavailable', 1, 0]],
  ['video', 'before the copy is recorded', lost('stored'), 'done elsewhere', ['completed', 1, 10]],
  ['video', 'before the copy is recorded', lost('stored'), 'unknown', ['result_unavailable', 1, 0]],
  ['video', 'when the copy is recorded', unheard('stored'), 'failed and gone', ['completed', 1, 10]],
  ['video', 'before the charge is written', lost('completed'), 'failed and gone', ['completed', 1, 10]],
  ['video', 'when the charge is written', unheard('completed'), 'failed and gone', ['completed', 1, 10]],
  ['image', 'before the intent is written', lost('sending'), 'done', ['completed', 1, 4]],
  ['image', 'while the vendor is asked', { vendor: 'submit' }, 'done', [UNKNOWN, 1, 0]],
  ['image', 'before the picture is recorded', lost('stored'), 'failed', [UNKNOWN, 1, 0]],
  ['image', 'when the picture is recorded', unheard('stored'), 'failed', ['completed', 1, 4]],
  ['image', 'before the charge is written', lost('completed'), 'failed', ['completed', 1, 4]],
];

interface Play extends OrderedTask {
  owner: TestUser;
  waits: Waits;
  after: Afterwards;
}

describe('a task whose worker is killed', () => {
  let vendor: StandIn;
  let gateway: TestGateway;
  let engine: TestEngine;
  let isKilled = false;
  const plays: Play[] = [];
  const cleanup = createCleanup();

  before(async () => {
    vendor = await startStandIn(answer);
    cleanup.later(() => vendor.close());
    const env = { GROK_BASE_URL: vendor.url, OPENAI_BASE_URL: vendor.url };
    gateway = await startGateway({ worker: false, env: { ...env, SVC_DATABASE_CONNECTIONS_MAX: '32' } });
    cleanup.later(() => gateway.stop());
    engine = await openEngine(gateway);
    cleanup.later(() => engine.close());
    for (const [kind, , waits, after] of DRILLS) {
      const owner = await gateway.createUser(CREDITS);
      const order = kind === 'video' ? orderVideo : orderImage;
      plays.push({ ...(await order(owner.session, '')), owner, waits, after });
    }
    await killAndStartAgain();
  });
  after(() => cleanup.run());
  afterEach(() => gateway.expectSoundMoney());

  for (const [index, [kind, where, , after, [outcome, handedOver, charged]]] of DRILLS.entries())
    it(`${where}, ${kind}, the vendor then says ${after}: ${outcome}, and costs ${charged}`, async () => {
      const { owner, id, word } = plays[index] as Play;
      const ended = await untilFinal(owner.session, id);
      expect([ended.errorCode ?? ended.status, countHandOvers(word)]).to.deep.equal([outcome, handedOver]);
      expect(await countCharges(gateway, id)).to.equal(charged > 0 ? 1 : 0);
      expect(await readAvailable(owner)).to.include({ balance: CREDITS - charged, reserved: 0 });
      const [{ state, charged: booked } = {}] = await readReservations(gateway, id);
      expect([state, booked]).to.deep.equal(charged > 0 ? ['charged', charged] : ['released', null]);
      expect(await engine.untilClosed(id)).to.equal(outcome === 'completed' ? 'COMPLETED' : 'FAILED');
    });

  async function killAndStartAgain(): Promise<void> {
    const steps = plays.flatMap(({ id, waits }) =>
      'statement' in waits ? [[id, waits.statement] as const] : [],
    );
    const held = await holdSteps(gateway, new Map(steps));
    const worker = await startWorkerProcess(gateway.env);
    cleanup.later(() => worker.kill());
    await until('each task is where its worker is to be killed', async () => {
      const isKept = plays.every(
        ({ word, waits }) => !('vendor' in waits) || kept.has(`${waits.vendor} ${word}`),
      );
      return isKept && held.areWaiting(steps.map(([id]) => id));
    });
    await worker.kill();
    isKilled = true;
    await held.release(
      plays.flatMap(({ id, waits }) => ('andThen' in waits && waits.andThen === 'is lost' ? [id] : [])),
    );
    await untilSessionsEnd(gateway.em(), worker);
    await missWorker();
    const next = await startWorkerProcess(gateway.env);
    cleanup.later(() => next.kill());
  }

  /** Lets pass what passes until Temporal misses the heartbeats and the submissions count as abandoned. */
  async function missWorker(): Promise<void> {
    await gateway.em().execute(`
      update submission set updated_at = updated_at - interval '1 minute', sent_at = sent_at - interval '1 minute'`);
    for (const { id } of plays) {
      const { workflowId, runId, raw } = await engine.handleOf(id).describe();
      for (const { activityId } of raw.pendingActivities ?? [])
        await engine.client.activity.fail(
          { workflowId, runId, activityId: activityId ?? '' },
          ApplicationFailure.retryable('its worker is gone'),
        );
    }
  }

  const kept = new Set<string>();

  /** Keeps the worker that is to be killed waiting where its task says so. */
  function answer(res: ServerResponse, req: Received): void {
    const request = req.method === 'POST' ? 'submit' : req.path.endsWith('.mp4') ? 'file' : 'poll';
    const text = request === 'submit' ? req.body.toString() : req.path;
    const play = plays.find(({ word }) => text.includes(word));
    if (!play) return void res.writeHead(500).end();
    if (!isKilled && 'vendor' in play.waits && play.waits.vendor === request) {
      kept.add(`${request} ${play.word}`);
      return;
    }
    if (req.path.endsWith('/images/generations'))
      return sendJson(res, 200, { data: [{ b64_json: PNG.toString('base64') }] });
    if (request === 'submit') return sendJson(res, 200, { request_id: `job-${play.word}` });
    const after = isKilled ? play.after : 'done';
    if (request === 'poll') return tell(res, play.word, after);
    const name = after === 'done elsewhere' ? 'new' : 'file';
    const isThere = after !== 'unknown' && after !== 'failed and gone' && req.path.includes(name);
    res.writeHead(isThere ? 200 : 404).end(isThere ? MP4 : undefined);
  }

  function tell(res: ServerResponse, word: string, after: Afterwards): void {
    if (after === 'unknown') return void res.writeHead(404).end('{}');
    if (after.startsWith('failed'))
      return sendJson(res, 200, { status: 'failed', error: { code: 'internal_error', message: 'No.' } });
    const [name, seconds, ticks] =
      after === 'done elsewhere' ? ['new', 1, 1] : ['file', after === 'done' ? 1 : 9, 1_000_000];
    const video = { url: `${vendor.url}/${name}/${word}.mp4`, duration: seconds };
    sendJson(res, 200, { status: 'done', video, usage: { cost_in_usd_ticks: ticks } });
  }

  function countHandOvers(word: string): number {
    return vendor.received.filter(({ method, body }) => method === 'POST' && body.includes(word)).length;
  }
});
