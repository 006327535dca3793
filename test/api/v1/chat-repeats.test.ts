// Repeats of a chat call under its Idempotency-Key: what has changed since the first is nothing to them.
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { ConcurrentCalls } from '../../../api/chat/concurrent-calls.ts';
import type { Services } from '../../../api/services.ts';
import { ask, CHAT_MODEL, isSettled, readCalls, say } from '../../support/chat.ts';
import { expectError } from '../../support/http/expect-error.ts';
import type { Answer } from '../../support/http/http.ts';
import { isReplay } from '../../support/http/repeatable.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';

const PATH = '/v1/chat/completions';
const PLENTY = '100000/60';

describe('a repeat of a chat call', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    const env = { SVC_LIMIT_CHAT: PLENTY, SVC_CHAT_CONCURRENT_PER_USER: '150' };
    gateway = await startGateway({ worker: false, env });
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());

  const send = (key: string, directive = 'tokens=4', fields: object = {}): Promise<Answer> => {
    const body = { model: CHAT_MODEL, messages: say(directive), ...fields };
    return owner.key.post(PATH, body, { 'idempotency-key': key });
  };
  const expectRepeat = (answer: Answer, first: Answer): void => {
    expect([answer.status, isReplay(answer)], JSON.stringify(answer.body)).to.deep.equal([200, true]);
    expect(answer.body).to.deep.equal(first.body);
  };

  /** Expects one call, and that the others were told to wait or what it was told; answers the one. */
  const expectOne = (answers: readonly Answer[]): Answer => {
    const [first, ...others] = answers.filter((answer) => answer.status === 200 && !isReplay(answer));
    if (!first) throw new Error('none was answered');
    expect(others).to.have.length(0);
    for (const answer of answers)
      if (answer.status === 200) expect(answer.body).to.deep.equal(first.body);
      else expectError(answer, 409, 'idempotency_in_progress');
    return first;
  };

  it('is answered when the credits are spent, and 402 is told to nothing but a new call', async () => {
    const { body } = await ask(owner, 'tokens=4', { max_tokens: 100 });
    owner = await gateway.createUser(Number(body.usage.credits_estimate).toFixed(6));
    const first = await send('spent', 'tokens=4', { max_tokens: 100 });
    expect(first.status, JSON.stringify(first.body)).to.equal(200);
    expectError(await send('new', 'tokens=4', { max_tokens: 100 }), 402, 'insufficient_credits');
    expectRepeat(await send('spent', 'tokens=4', { max_tokens: 100 }), first);
  });

  it('is told no refusal while the lookup of its key fails', async () => {
    const first = await send('hidden');
    const { keptAnswers, chat } = gateway.services;
    const stopping = Object.assign(new Error('the server stops'), { code: '57P01' });
    gateway.services.keptAnswers = { ...keptAnswers, find: () => Promise.reject(stopping) };
    gateway.services.chat = withoutPlaces(chat);
    try {
      expectError(await send('hidden'), 503, 'service_unavailable');
    } finally {
      gateway.services.chat = chat;
      gateway.services.keptAnswers = keptAnswers;
    }
    expectRepeat(await send('hidden'), first);
  });

  it('is answered beyond the limit of calls at once, where a new call is refused', async () => {
    const first = await send('crowded');
    const { chat } = gateway.services;
    gateway.services.chat = withoutPlaces(chat);
    try {
      expectError(await send('another'), 429, 'concurrency_limited');
      expectRepeat(await send('crowded'), first);
      expectError(await send('crowded', 'tokens=5'), 422, 'idempotency_key_reused', 'Idempotency-Key');
    } finally {
      gateway.services.chat = chat;
    }
  });

  it('is answered as soon as the call is charged, though its process has not answered yet', async () => {
    const { settlementWriter } = gateway.services.chat;
    const write = settlementWriter.write.bind(settlementWriter);
    const [charged, answering] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    settlementWriter.write = async (end) => {
      const amount = await write(end);
      charged.resolve();
      await answering.promise;
      return amount;
    };
    const first = send('charged');
    await charged.promise;
    settlementWriter.write = write;
    const repeat = await send('charged');
    answering.resolve();
    expectRepeat(repeat, await first);
    expect(await readCalls(gateway, owner)).to.have.length(1);
  });

  it('is refused from the moment at which its key is of no use', async () => {
    const ends: [code: string, status: number, act: (user: TestUser) => Promise<unknown>][] = [
      ['invalid_api_key', 401, (user) => user.session.delete(`/api/keys/${user.keyId}`)],
      ['expired_api_key', 401, ({ keyId }) => gateway.em().execute(expire(keyId))],
      ['account_disabled', 403, ({ id }) => gateway.em().execute(disable(id))],
    ];
    for (const [code, status, act] of ends) {
      owner = await gateway.createUser();
      const first = await send('useless');
      expectRepeat(await send('useless'), first);
      await act(owner);
      expectError(await send('useless'), status, code);
    }
  });

  it('of a hundred at once is one call; the others are told to wait, or what it was told', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => send('crowd', 'tokens=4 delay=5')));
    expectOne(answers);
    expect(await readCalls(gateway, owner)).to.have.length(1);
    expect(await isSettled(owner)).to.equal(true);
  });

  it('of a call that was undone is one call, of twenty at once', async () => {
    const repeat = (): Promise<Answer> => send('undone', 'submit=400*1 delay=5');
    expectError(await repeat(), 400, 'upstream_rejected');
    // As its process would leave the key by dying before it kept the answer.
    await gateway.em().execute(sql`
      update idempotency_key set answer = null, answer_secret_key_id = null, leased_until = now()
      where user_id = ${owner.id}`);
    const answers = await Promise.all(Array.from({ length: 20 }, repeat));
    const first = expectOne(answers);
    expect((await readCalls(gateway, owner)).map(({ status }) => status)).to.deep.equal([
      'failed',
      'completed',
    ]);
    expectRepeat(await repeat(), first);
  });

  it('is told to wait, in time, while another transaction holds its key, and delays no other call for longer', async () => {
    await gateway.em().transactional(async (tx) => {
      await tx.execute(sql`
        insert into idempotency_key (id, user_id, method, path, key_hash, fingerprint, leased_until)
        values ('idm_held', ${owner.id}, 'POST', ${PATH}, sha256('held'), '', now())`);
      const startedAt = Date.now();
      const beside = ask(owner);
      expectError(await send('held'), 409, 'idempotency_in_progress');
      expect(Date.now() - startedAt).to.be.below(4_500);
      expect((await beside).status).to.equal(200);
      await tx.execute(sql`delete from idempotency_key where id = 'idm_held'`);
    });
    await until('it is free', async () => (await send('held')).status === 200);
  });
});

function expire(keyId: string): RawQueryFragment {
  return sql`update api_key set expires_at = now() where id = ${keyId}`;
}

function disable(userId: string): RawQueryFragment {
  return sql`update app_user set disabled_at = now() where id = ${userId}`;
}

/** As if all calls that a user may have at once were running. */
function withoutPlaces(chat: Services['chat']): Services['chat'] {
  return { ...chat, running: new ConcurrentCalls(0) };
}
