// Answers that are kept in the statement that ends their chat calls: those alone that say what was charged.
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { createChatCalls, type ChatCalls } from '../../../db/chat/chat-ledger.ts';
import type { ChatCallEnd } from '../../../db/chat/calls.ts';
import { forkEm, type Em } from '../../../db/database.ts';
import { makeId } from '../../../db/ids.ts';
import { identifyRequest, type IdentifiedRequest } from '../../../db/idempotency/idempotency-keys.ts';
import { openKeptAnswers, type KeptAnswers } from '../../../db/idempotency/kept-answers.ts';
import { readPoolMetrics } from '../../../db/pool.ts';
import { findViolations } from '../../../db/ledger/invariants.ts';
import { Secrets } from '../../../db/secrets.ts';
import { parseCredits } from '../../../domain/credits.ts';
import { createSpender, type Spender } from '../../support/ledger/spender.ts';
import { createDatabase } from '../../support/servers/database.ts';

const CREDIT = parseCredits(1);
const LEASE_SECONDS = 60;
const PATH = '/v1/chat/completions';

describe('the answer of a chat call that comes with its end', () => {
  let stored: Awaited<ReturnType<typeof createDatabase>>;
  let calls: ChatCalls;
  let answers: KeptAnswers;
  let who: Spender;
  const secrets = new Secrets([{ id: 'k', bytes: createHash('sha256').update('ring').digest() }]);
  const em = (): Em => forkEm(stored.database);

  before(async () => {
    stored = await createDatabase();
    calls = createChatCalls(stored.database, LEASE_SECONDS);
    answers = openKeptAnswers(stored.database, secrets, calls.keepAnswer);
    who = await createSpender(em(), 1_000);
  });
  afterEach(async () => expect(await findViolations(em())).to.deep.equal([]));
  after(() => stored.drop());

  it('is kept with the charge, beside ends without one', async () => {
    const begun = await Promise.all(['a', 'b', 'c'].map(begin));
    const charged = await Promise.all(
      begun.map((call, index) => calls.settle(end(call, CREDIT, index === 1 ? null : `answer ${index}`))),
    );
    expect(charged).to.deep.equal([CREDIT, CREDIT, CREDIT]);
    expect(await Promise.all(begun.map(read))).to.deep.equal(['answer 0', null, 'answer 2']);
  });

  it('is kept when it is too long for the statement of others', async () => {
    const call = await begin('long');
    const text = 'x'.repeat(300_000);
    expect(await calls.settle(end(call, CREDIT, text))).to.equal(CREDIT);
    expect(await read(call)).to.equal(text);
  });

  it('is not kept when the call was charged otherwise before, and then another one is', async () => {
    const [call, beside] = [await begin('twice'), await begin('beside')];
    await calls.settle(end(call, CREDIT, null));
    const charged = await Promise.all([
      calls.settle(end(call, 2n * CREDIT, 'for two credits')),
      calls.settle(end(beside, 2n * CREDIT, 'for two credits')),
    ]);
    expect(charged).to.deep.equal([CREDIT, 2n * CREDIT]);
    expect([await read(call), await read(beside)]).to.deep.equal([null, 'for two credits']);
    await answers.keep(call.rowId, replyOf('for one credit'));
    expect(await read(call)).to.equal('for one credit');
  });

  it('stays when the same call ends again for another charge', async () => {
    const call = await begin('again');
    await calls.settle(end(call, CREDIT, 'the first'));
    expect(await calls.settle(end(call, 2n * CREDIT, 'the second'))).to.equal(CREDIT);
    expect(await read(call)).to.equal('the first');
  });

  it('takes few connections when many are long, and others find one at once', async () => {
    const begun = await Promise.all(Array.from({ length: 30 }, (_, index) => begin(`one of many ${index}`)));
    const text = 'x'.repeat(2_000_000);
    const seen = { busy: 0, waiting: 0 };
    const watch = setInterval(() => {
      const { open, idle, waiting } = readPoolMetrics(stored.database);
      seen.busy = Math.max(seen.busy, open - idle);
      seen.waiting = Math.max(seen.waiting, waiting);
    }, 1);
    await Promise.all(begun.map((call) => calls.settle(end(call, CREDIT, text))));
    clearInterval(watch);
    expect(seen).to.deep.equal({ busy: 2, waiting: 0 });
    for (const call of begun) expect(await read(call)).to.equal(text);
  });

  interface BegunCall extends Spender {
    id: string;
    rowId: string;
    request: IdentifiedRequest;
  }

  async function begin(key: string): Promise<BegunCall> {
    const request = identifyRequest({ userId: who.userId, method: 'POST', path: PATH }, key, 'content');
    const [id, rowId, amount] = [makeId('call'), makeId('idm'), 5n * CREDIT];
    const claim = { request, rowId, undoneId: null };
    const about = { model: 'gpt', stream: false, requestId: 'r', amount, amountMax: amount, claim };
    expect(await calls.reserve({ id, ...who, ...about })).to.deep.equal({ kind: 'reserved', amount });
    return { id, ...who, rowId, request };
  }

  function end({ id, userId, keyId, rowId }: BegunCall, charged: bigint, text: string | null): ChatCallEnd {
    const sealed = text === null ? null : secrets.seal('answer', rowId, JSON.stringify(replyOf(text)));
    return {
      ...{ id, userId, keyId, charged, loss: 0n, status: 'completed', tried: [] },
      ...{ promptTokens: 1, completionTokens: 1, billingBasis: 'upstream', latencyMs: 1 },
      ...{ upstreamRequestId: null, errorCode: null, errorMessage: null },
      answer: sealed && { rowId, ...sealed },
    };
  }

  /** The text that repeats are answered; null while none is kept. */
  async function read({ request }: BegunCall): Promise<unknown> {
    const answer = (await answers.find(request))?.answer ?? null;
    return answer?.kind === 'reply' ? answer.body : null;
  }
});

function replyOf(body: string) {
  return { kind: 'reply', status: 200, body, headers: {} } as const;
}
