// GET /api/usage: one entry for each chat call, for its owner alone.
import { expect } from 'chai';
import { ask, lastCall, openStream, say } from '../../support/chat.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { createActor } from '../../support/http/http.ts';

type Entry = {
  id: string;
  requestId: string;
  model: string;
  keyId: string;
  status: string;
  createdAt: string;
};

describe('GET /api/usage', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser();
  });

  const list = async (
    query = '',
    user = owner,
  ): Promise<{ data: Entry[]; hasMore: boolean; nextCursor: string | null }> =>
    (await user.session.get(`/api/usage?${query}`)).body;

  it('is empty at first', async () => {
    expect(await list()).to.deep.equal({ data: [], hasMore: false, nextCursor: null });
  });

  it('has what a call was, cost and took, under the id of its request', async () => {
    const { headers, body } = await ask(owner, 'tokens=10', { max_tokens: 50 });
    const entry = await lastCall(owner);
    expect(entry).to.have.all.keys(
      ...['id', 'requestId', 'upstreamRequestId', 'keyId', 'model', 'stream', 'status', 'promptTokens'],
      ...['completionTokens', 'creditsReserved', 'creditsCharged', 'billingBasis', 'latencyMs', 'errorCode'],
      ...['errorMessage', 'createdAt'],
    );
    expect(entry).to.include({
      requestId: headers.get('x-request-id'),
      keyId: owner.keyId,
      model: 'gpt-6-luna',
      stream: false,
      status: 'completed',
      promptTokens: body.usage.prompt_tokens,
      completionTokens: 10,
      creditsReserved: body.usage.credits_estimate,
      creditsCharged: body.usage.credits_charged,
      billingBasis: 'upstream',
      errorCode: null,
      errorMessage: null,
    });
    expect(entry.upstreamRequestId).to.be.a('string').and.not.equal(entry.requestId);
    expect(entry.latencyMs).to.be.within(1, 30_000);
  });

  it('keeps the caller’s own request id, and the ledger has the same', async () => {
    const ids = ['mine-1', 'mine-2'];
    await owner.key.post(
      '/v1/chat/completions',
      { model: 'gpt-6-luna', messages: say() },
      { 'x-request-id': 'mine-1' },
    );
    await (await openStream(gateway.baseUrl, owner, { headers: { 'x-request-id': 'mine-2' } })).text();
    const { data } = await list();
    expect(data.map(({ requestId }) => requestId)).to.deep.equal(ids.toReversed());
    const { body } = await owner.session.get('/api/balance?includeLedger=1');
    const charges = body.data.ledger.filter(({ type }: { type: string }) => type === 'charge');
    expect(charges).to.have.length(2);
    for (const [index, charge] of charges.entries()) {
      const call = (await list()).data[index];
      expect(charge).to.include({
        requestId: call?.requestId,
        model: call?.model,
        keyId: call?.keyId,
        taskId: null,
      });
      expect(charge.amount).to.be.below(0);
    }
  });

  it('has calls that failed, masked, and not those that were refused here', async () => {
    await ask(owner, 'submit=400 text=leaky');
    const failed = await lastCall(owner);
    expect(failed).to.include({ status: 'failed', errorCode: 'upstream_rejected', creditsCharged: 0 });
    expect(failed.errorMessage)
      .to.be.a('string')
      .and.not.match(/https?:\/\/|@|\/home|data:image|\d+\.\d+\.\d+/);
    await ask(owner, '', { max_tokens: 0 });
    await ask(owner, '', { model: 'none' });
    expect((await list()).data).to.have.length(1);
  });

  it('is filtered by model, key and status, together too', async () => {
    await owner.verify();
    const { body: made } = await owner.session.post('/api/keys', { name: 'second' });
    const second = createActor(
      () => gateway.baseUrl,
      () => ({ authorization: `Bearer ${made.data.key}` }),
    );
    const post = (actor: typeof second, model: string, directive = '') =>
      actor.post('/v1/chat/completions', { model, messages: say(directive) });
    await post(owner.key, 'gpt-6-luna');
    await post(owner.key, 'gpt-6-sol');
    await post(second, 'gpt-6-luna', 'submit=500');
    await post(second, 'gpt-6-luna');
    const count = async (query: string): Promise<number> => (await list(query)).data.length;
    expect(await count('')).to.equal(4);
    expect(await count('model=gpt-6-luna')).to.equal(3);
    expect(await count('model=none')).to.equal(0);
    expect(await count(`keyId=${owner.keyId}`)).to.equal(2);
    expect(await count(`keyId=${made.data.id}&status=failed`)).to.equal(1);
    expect(await count('status=completed&model=gpt-6-sol')).to.equal(1);
    expect(await count('status=cancelled')).to.equal(0);
    expect(await count('errorCode=upstream_error')).to.equal(1);
    expect(await count('errorCode=upstream_error&status=completed')).to.equal(0);
    expect(await count('errorCode=upstream_error&model=gpt-6-sol')).to.equal(0);
    expect(await count('errorCode=none')).to.equal(0);
  });

  it('is filtered by the time at which a call began, with offsets, across pages', async () => {
    for (let call = 0; call < 3; call += 1) await ask(owner);
    const [last, middle, first] = (await list()).data;
    if (!last || !middle || !first) throw new Error('three calls were made');
    const between = (Date.parse(middle.createdAt) + Date.parse(last.createdAt)) / 2;
    const at = encodeURIComponent(new Date(between).toISOString().replace('Z', '+00:00'));
    expect((await list(`from=${at}`)).data.map(({ id }) => id)).to.deep.equal([last.id]);
    expect((await list(`to=${at}`)).data.map(({ id }) => id)).to.deep.equal([middle.id, first.id]);
    expect((await list(`to=${at}&cursor=${middle.id}`)).data.map(({ id }) => id)).to.deep.equal([first.id]);
    const exactly = encodeURIComponent(middle.createdAt);
    const since = (await list(`from=${exactly}`)).data.map(({ id }) => id);
    expect(since, 'from its own time').to.deep.equal([last.id, middle.id]);
    const earlier = (await list(`to=${exactly}`)).data.map(({ id }) => id);
    expect(earlier, 'before its own time').to.deep.equal([first.id]);
    expect((await list('from=2020-01-01T00:00:00%2B02:00&to=2021-01-01T00:00:00Z')).data).to.deep.equal([]);
  });

  it('comes in pages, newest first, each call once', async () => {
    for (let call = 0; call < 5; call += 1) await ask(owner);
    const whole = (await list()).data.map(({ id }) => id);
    const first = await list('limit=2');
    const second = await list(`limit=2&cursor=${first.nextCursor}`);
    const third = await list(`limit=2&cursor=${second.nextCursor}`);
    expect([first, second, third].map(({ hasMore }) => hasMore)).to.deep.equal([true, true, false]);
    expect(third.nextCursor).to.equal(null);
    expect([first, second, third].flatMap(({ data }) => data.map(({ id }) => id))).to.deep.equal(whole);
    expect(whole).to.have.length(5);
  });

  it('refuses filters that cannot be meant', async () => {
    for (const [query, param] of [
      ['status=running', 'status'],
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['cursor=x', 'cursor'],
      ['from=yesterday', 'from'],
      ['to=2020-02-31T00:00:00Z', 'to'],
    ])
      expectError(await owner.session.get(`/api/usage?${query}`), 400, 'invalid_value', param);
  });

  it('shows nobody anything of another user', async () => {
    const stranger = await gateway.createUser();
    await ask(owner);
    const { data } = await list();
    expect((await list('', stranger)).data).to.deep.equal([]);
    expect((await list(`keyId=${owner.keyId}`, stranger)).data).to.deep.equal([]);
    await ask(stranger);
    const cursor = (await list('', stranger)).data[0]?.id;
    expect((await list(`cursor=${cursor}`)).data).to.deep.equal(data);
    expectError(await owner.key.get('/api/usage'), 401, 'not_authenticated');
  });
});
