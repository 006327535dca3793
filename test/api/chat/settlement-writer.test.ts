// The end of a chat call that cannot be written at once: how long it is tried, and what is told of giving up.
import { expect } from 'chai';
import type { ChatCalls } from '../../../db/chat/chat-ledger.ts';
import type { ChatCallEnd } from '../../../db/chat/calls.ts';
import { SettlementWriter } from '../../../api/chat/settlement-writer.ts';
import { createLog } from '../../../log.ts';

const LEASE_SECONDS = 0.1;
const END: ChatCallEnd = {
  ...{ id: 'call_1', userId: 'usr_1', keyId: 'key_1', charged: 7n, loss: 2n, status: 'completed' },
  ...{
    promptTokens: 1,
    completionTokens: 1,
    billingBasis: 'upstream',
    latencyMs: 5,
    upstreamRequestId: null,
  },
  ...{ errorCode: null, errorMessage: null, tried: [], answer: null },
};

describe('the end of a chat call', () => {
  it('is written when the database is back after the lease was over', async () => {
    const writer = createWriter([away(), away(), 7n]);
    expect(await writer.write(END)).to.equal(7n);
  });

  it('is given up after the time of a lease when its account contradicts it, with what it cost', async () => {
    const refused = Object.assign(new Error('refused'), { code: '23514' });
    const writer = createWriter([refused, refused]);
    expect(await writer.write(END)).to.equal(null);
    expect(logged).to.match(/"callId":"call_1","charged":"7","loss":"2".*the end of a chat call is given up/);
  });

  it('is given up after the time of a lease when the process ends', async () => {
    const writer = createWriter([away(), away(), away()]);
    const written = writer.write(END);
    await writer.drain();
    expect(await written).to.equal(null);
  });

  let logged = '';
  const away = (): Error => new Error('connect ECONNREFUSED');

  /** A writer whose tries have these outcomes, one after the other. */
  function createWriter(outcomes: (Error | bigint)[]): SettlementWriter {
    logged = '';
    const log = createLog({ process: 'test', level: 'warn' }, { write: (line) => (logged += line) });
    const calls: Pick<ChatCalls, 'settle'> = {
      settle: async () => {
        const next = outcomes.shift() ?? away();
        if (next instanceof Error) throw next;
        return next;
      },
    };
    return new SettlementWriter(calls, LEASE_SECONDS, log);
  }
});
