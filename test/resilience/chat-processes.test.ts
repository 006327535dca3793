// Chat calls whose API process dies or is told to stop, and those of two processes at once.
import { expect } from 'chai';
import { sql } from '@mikro-orm/postgresql';
import {
  ask,
  CHAT_MODEL,
  eventsIn,
  isSettled,
  lastCall,
  openStream,
  readBalance,
  readCalls,
  readUntil,
  say,
} from '../support/chat.ts';
import { createCleanup } from '../support/cleanup.ts';
import { activitiesOf } from '../support/servers/engine.ts';
import { expectError } from '../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { createActor, type Actor } from '../support/http/http.ts';
import { startApiProcess, type ApiProcess } from '../support/servers/process.ts';
import { readJournal } from '../support/servers/sandbox.ts';
import { uniqueWord } from '../support/tasks.ts';
import { until } from '../support/until.ts';

/** The shortest that a busy machine renews in time. */
const LEASE_SECONDS = 2;

describe('chat calls and their processes', () => {
  const cleanup = createCleanup();
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_CHAT_LEASE_SECONDS: String(LEASE_SECONDS) } });
    cleanup.later(() => gateway.stop());
  });
  after(() => cleanup.run());
  beforeEach(async () => {
    owner = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());

  async function startApi(): Promise<ApiProcess> {
    const api = await startApiProcess(gateway.env);
    cleanup.later(() => api.process.kill());
    return api;
  }

  const ownerAt = ({ baseUrl }: ApiProcess): Actor =>
    createActor(
      () => baseUrl,
      () => ({ authorization: `Bearer ${owner.apiKey}` }),
    );
  const sweep = () => activitiesOf(gateway).sweepTasks();

  async function knownCharge(): Promise<bigint> {
    const [row] = await gateway.em().execute<{ known: string }[]>(sql`
      select known_charge as known from chat_call where user_id = ${owner.id} and status = 'open'`);
    return BigInt(row?.known ?? 0);
  }

  it('killed in mid-stream: after the lease nothing is set aside, and what was known is charged', async () => {
    const api = await startApi();
    const headers = { 'idempotency-key': uniqueWord() };
    const word = uniqueWord();
    const params = { directive: 'tokens=5000 delay=10', word, headers };
    const response = await openStream(api.baseUrl, owner, params);
    await readUntil(response, (text) => text.length > 5_000);
    await until('something is known of the call', async () => (await knownCharge()) > 0n);
    const known = await knownCharge();
    expect((await sweep()).settled, 'a call that lives is left alone').to.equal(0);
    await api.process.kill();
    const killedAt = Date.now();
    const again = { model: CHAT_MODEL, messages: say(params.directive, word), stream: true };
    const repeat = () => owner.key.post('/v1/chat/completions', again, headers);
    expectError(await repeat(), 409, 'idempotency_in_progress');
    await until('the sweeper settles it', async () => (await sweep()).settled === 1);
    expect(Date.now() - killedAt).to.be.below(LEASE_SECONDS * 1000 + 3_000);
    expect(await isSettled(owner)).to.equal(true);
    const [call] = await readCalls(gateway, owner);
    expect(call).to.include({ status: 'failed', basis: 'estimated' });
    expect(
      BigInt(call?.charged ?? 0) >= known && BigInt(call?.charged ?? 0) <= BigInt(call?.reserved ?? 0),
    ).to.equal(true);
    expectError(await repeat(), 422, 'idempotency_key_reused');
    expect((await ask(owner)).status, 'the owner can spend again').to.equal(200);
  });

  it('killed before the first token: nothing is charged, and a repeat with its key does the work', async () => {
    const api = await startApi();
    const word = uniqueWord();
    const headers = { 'idempotency-key': uniqueWord() };
    const params = { directive: 'submit=hang*1', word, headers };
    const answer = openStream(api.baseUrl, owner, params).catch(() => 'broken');
    await until(
      'the upstream is asked',
      async () => (await readJournal(gateway.sandboxUrl, word)).length > 0,
    );
    await api.process.kill();
    expect(await answer).to.equal('broken');
    await until('the sweeper settles it', async () => (await sweep()).settled === 1);
    expect(await readBalance(owner)).to.include({ balance: 1_000, reserved: 0 });
    expect(await lastCall(owner)).to.include({ status: 'failed', creditsCharged: 0, billingBasis: 'none' });
    const again = { model: CHAT_MODEL, messages: say(params.directive, word), stream: true };
    const repeats = await Promise.all(
      [1, 2].map(() => owner.key.post('/v1/chat/completions', again, headers)),
    );
    const statuses = repeats.map(({ status }) => status);
    expect(statuses, 'only one of them works').to.have.members([200, 409]);
    const worked = repeats.find(({ status }) => status === 200);
    expect(worked?.headers.get('idempotent-replayed')).to.equal(null);
    expect((await readCalls(gateway, owner)).map(({ status }) => status)).to.have.length(2);
  });

  it('that outlive their lease are not swept, streamed or whole, nor while the upstream is silent', async () => {
    const answers = [
      openStream(gateway.baseUrl, owner, { directive: 'tokens=150 delay=20' }).then((response) =>
        response.text(),
      ),
      openStream(gateway.baseUrl, owner, { directive: 'first=3000 tokens=150 delay=0' }).then((response) =>
        response.text(),
      ),
      ask(owner, 'seconds=3 tokens=150').then(() => ''),
    ];
    let isOver = false;
    const over = Promise.all(answers).then(() => (isOver = true));
    let swept = 0;
    await until('they are over', async () => {
      swept += (await sweep()).settled;
      return isOver;
    });
    await over;
    expect(swept).to.equal(0);
    for (const call of await readCalls(gateway, owner))
      expect(call).to.include({ status: 'completed', basis: 'upstream', completionTokens: 150 });
  });

  it('of two processes spend exactly what is there', async () => {
    const apis = await Promise.all([startApi(), startApi()]);
    const params = { model: CHAT_MODEL, messages: say('seconds=1'), max_tokens: 100 };
    const { body } = await ask(owner, 'seconds=1', { max_tokens: 100 });
    owner = await gateway.createUser((body.usage.credits_estimate * 10).toFixed(6));
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => {
        const api = apis[index % apis.length];
        if (!api) throw new Error('there is no process');
        return ownerAt(api).post('/v1/chat/completions', params);
      }),
    );
    const count = (status: number): number => answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(402)]).to.deep.equal([10, 90]);
    expect(await isSettled(owner)).to.equal(true);
  });

  it('told to stop: a stream that ends in time is whole; others end with an error, all are settled', async () => {
    const api = await startApi();
    const short = openStream(api.baseUrl, owner, { directive: 'tokens=100 delay=20' });
    const long = openStream(api.baseUrl, owner, { directive: 'tokens=100000 delay=100' });
    const silent = openStream(api.baseUrl, owner, { directive: 'outcome=stuck tokens=3' });
    const texts = [short, long, silent].map(async (response) => (await response).text());
    await Promise.all([short, long, silent]);
    const toldAt = Date.now();
    process.kill(api.process.pid, 'SIGTERM');
    const [whole, cut, silenced] = (await Promise.all(texts)).map(eventsIn);
    expect(whole?.at(-1)).to.equal('[DONE]');
    for (const events of [cut, silenced])
      expect(JSON.parse(events?.at(-1) ?? '').error.code).to.equal('service_unavailable');
    await until('the process is gone', async () => api.process.hasExited());
    expect(Date.now() - toldAt).to.be.within(19_000, 30_000);
    const calls = await readCalls(gateway, owner);
    expect(calls.map(({ status }) => status).toSorted()).to.deep.equal(['completed', 'failed', 'failed']);
    for (const { charged } of calls) expect(BigInt(charged) > 0n).to.equal(true);
    expect(await isSettled(owner)).to.equal(true);
  });
});
