// POST /v1/chat/completions when the upstream fails or the caller leaves: the answer, and what it costs.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { ask, eventsIn, lastCall, openStream } from '../../support/chat.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';

describe('POST /v1/chat/completions', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_UPSTREAM_TIMEOUT_SECONDS: '2' } });
    owner = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());
  after(() => gateway.stop());

  describe('when the upstream fails', () => {
    const cases: [directive: string, status: number, code: string][] = [
      ['submit=400', 400, 'upstream_rejected'],
      ['submit=401', 502, 'upstream_error'],
      ['submit=402', 502, 'upstream_error'],
      ['submit=403', 502, 'upstream_error'],
      ['submit=429', 503, 'upstream_rate_limited'],
      ['submit=500', 502, 'upstream_error'],
      ['submit=503', 502, 'upstream_error'],
      ['submit=reset', 502, 'upstream_error'],
      ['submit=hang', 504, 'upstream_timeout'],
      ['submit=html', 502, 'upstream_invalid_response'],
      ['submit=truncated', 502, 'upstream_error'],
      ['outcome=fail reason=moderation', 400, 'content_rejected'],
    ];
    for (const [directive, status, code] of cases)
      it(`answers ${status} ${code} with ${directive}, and charges nothing`, async () => {
        const before = await available();
        const answer = await ask(owner, directive);
        expectError(answer, status, code);
        if (status === 503) expect(Number(answer.headers.get('retry-after'))).to.be.at.least(1);
        expect(answer.headers.get('x-ratelimit-backend')).to.equal(null);
        expect(await available()).to.equal(before);
        expect(await lastCall(owner)).to.include({
          status: 'failed',
          creditsCharged: 0,
          billingBasis: 'none',
        });
      });

    it('tells the reason without what is nobody’s business', async () => {
      const { body } = await ask(owner, 'submit=400 text=leaky');
      expect(body.error.message).to.match(/^The provider refused this request\./);
      expect(body.error.message).not.to.match(/https?:\/\/|@|\/home|data:image|\d+\.\d+\.\d+/);
    });
  });

  describe('when a stream breaks off', () => {
    it('charges nothing before the first token, and says so in the stream', async () => {
      const before = await available();
      const events = await stream('die_after=0');
      expect(JSON.parse(events.at(-1) ?? '').error).to.include({ code: 'upstream_error' });
      expect(await available()).to.equal(before);
      expect(await lastCall(owner)).to.include({ status: 'failed', billingBasis: 'none' });
    });

    for (const directive of ['die_after=6 tokens=20', 'error_after=6 tokens=20'])
      it(`charges what was delivered with ${directive}`, async () => {
        const events = await stream(directive);
        expect(JSON.parse(events.at(-1) ?? '').error).to.include({ code: 'upstream_error' });
        const call = await lastCall(owner);
        expect(call).to.include({ status: 'failed', billingBasis: 'estimated', errorCode: 'upstream_error' });
        expect(call.completionTokens).to.be.within(1, 12);
        expect(call.creditsCharged).to.be.greaterThan(0);
      });
  });

  describe('when the usage cannot be believed', () => {
    for (const usage of ['missing', 'negative', 'huge', 'text'])
      it(`counts itself with usage=${usage}, whole and streamed`, async () => {
        const { body } = await ask(owner, `usage=${usage} tokens=10`);
        expect(body.usage.credits_charged).to.be.greaterThan(0).and.at.most(body.usage.credits_estimate);
        expect(await lastCall(owner)).to.include({ status: 'completed', billingBasis: 'estimated' });
        await stream(`usage=${usage} tokens=10`);
        expect(await lastCall(owner)).to.include({ status: 'completed', billingBasis: 'estimated' });
      });

    it('believes a zero', async () => {
      const { body } = await ask(owner, 'usage=zero');
      expect(body.usage.credits_charged).to.equal(0);
      expect(await lastCall(owner)).to.include({ billingBasis: 'upstream', creditsCharged: 0 });
    });
  });

  describe('when the caller leaves', () => {
    it('charges nothing before the upstream has answered, and tells the upstream at once', async () => {
      const before = await available();
      await leaveAfter('submit=hang', () => Promise.resolve(), true);
      await until('the call is settled', async () => (await openReservations()) === 0);
      expect(await available()).to.equal(before);
      expect(await lastCall(owner)).to.include({ status: 'cancelled', billingBasis: 'none' });
    });

    it('charges what the upstream has delivered by then', async () => {
      await leaveAfter('tokens=1000 delay=20', (reader) => readSome(reader, 3));
      await until('the call is settled', async () => (await openReservations()) === 0);
      const call = await lastCall(owner);
      expect(call).to.include({ status: 'cancelled', billingBasis: 'estimated' });
      expect(call.completionTokens).to.be.within(1, 40);
    });
  });

  async function stream(directive: string, fields: object = {}): Promise<string[]> {
    const response = await openStream(gateway.baseUrl, owner, { directive, fields });
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    return eventsIn(await response.text());
  }

  type Reader = ReadableStreamDefaultReader<Uint8Array>;

  async function leaveAfter(
    directive: string,
    read: (reader: Reader) => Promise<void>,
    beforeTheAnswer = false,
  ): Promise<void> {
    const leaving = new AbortController();
    const response = openStream(gateway.baseUrl, owner, { directive }, leaving.signal);
    if (beforeTheAnswer) {
      await until('credits are set aside', async () => (await openReservations()) > 0);
      leaving.abort();
      await response.catch(() => undefined);
      return;
    }
    const reader = (await response).body?.getReader();
    if (!reader) throw new Error('there is no body');
    await read(reader);
    leaving.abort();
  }

  async function readSome(reader: Reader, pieces: number): Promise<void> {
    for (let read = 0; read < pieces; read += 1) await reader.read();
  }

  async function openReservations(): Promise<number> {
    const [row] = await gateway
      .em()
      .execute<{ open: string }[]>(sql`select count(*) as open from chat_call where status = 'open'`);
    return Number(row?.open);
  }

  async function available(): Promise<number> {
    return (await owner.key.get('/v1/balance')).body.data.available;
  }
});
