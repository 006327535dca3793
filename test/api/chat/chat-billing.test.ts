// What the billing of a chat call does while the call runs.
import { expect } from 'chai';
import { ChatBilling, type ChatOutcome } from '../../../api/chat/chat-billing.ts';
import { readChat, type PricedChat } from '../../../api/chat/request/read-chat.ts';
import type { KeyCaller, RequestContext } from '../../../api/context.ts';
import type { Services } from '../../../api/services.ts';
import { forkEm } from '../../../db/database.ts';
import { findApiKey } from '../../../db/keys/find-key.ts';
import { countPromptTokens } from '../../../providers/chat/tokens.ts';
import { CHAT_MODEL, say } from '../../support/chat.ts';
import { startGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';

const DELIVERED = 'some words';
const RENEWALS = 3;

describe('the billing of a chat call', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_CHAT_LEASE_SECONDS: '1' } });
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  it('counts the tokens of the prompt once, although each renewal and the end ask for them', async () => {
    const renewals = { count: 0 };
    const ctx = await contextOf(countingRenewals(renewals));
    const { chat, reads } = withCountedReads(readChat(ctx));
    const billing = new ChatBilling(ctx, chat);
    await billing.reserve();
    billing.keepAlive(
      () => DELIVERED,
      () => undefined,
    );
    await until('the lease was renewed some times', async () => renewals.count >= RENEWALS);
    const { promptTokens } = await billing.finish(ended());
    expect(reads.count).to.equal(1);
    expect(promptTokens).to.equal(await countPromptTokens({ messages: say() }));
  });

  const ended = (): ChatOutcome => {
    const consumption = { kind: 'counted', text: DELIVERED } as const;
    return { status: 'completed', consumption, error: null, upstreamRequestId: null, tried: [] };
  };

  function countingRenewals(renewals: { count: number }): Services {
    const { chat } = gateway.services;
    const renewLease: typeof chat.calls.renewLease = async (renewal) => {
      const isRenewed = await chat.calls.renewLease(renewal);
      renewals.count += 1;
      return isRenewed;
    };
    return { ...gateway.services, chat: { ...chat, calls: { ...chat.calls, renewLease } } };
  }

  /** The chat with a prompt that counts how often it is read. */
  function withCountedReads(chat: PricedChat): { chat: PricedChat; reads: { count: number } } {
    const reads = { count: 0 };
    const messages = say().map(({ role, content }) => ({
      role,
      get content() {
        reads.count += 1;
        return content;
      },
    }));
    return { chat: { ...chat, upstreamBody: { ...chat.upstreamBody, messages } }, reads };
  }

  /** A call of a new user, as the route gives it to its handler. */
  async function contextOf(services: Services): Promise<RequestContext<KeyCaller>> {
    const em = forkEm(gateway.database);
    const { apiKey } = await gateway.createUser();
    const holder = await findApiKey(em, gateway.secrets, apiKey);
    if (!holder) throw new Error('the key of the new user is unknown');
    const request = { requestId: 'req_1', ip: '127.0.0.1', userAgent: null, sessionToken: null, params: {} };
    const ctx: RequestContext<KeyCaller> = {
      ...{ services, em, caller: { proof: 'key', ...holder }, ...request, query: new URLSearchParams() },
      ...{ trace: { taskId: null, chat: null }, limitBackend: 'memory', idempotency: null, file: null },
      body: { model: CHAT_MODEL, messages: say() },
      header: () => null,
      hasLeft: () => false,
      disconnected: () => new AbortController().signal,
      afterAnswer: () => undefined,
      workOnBody: async (work) => work(),
      endTurn: () => undefined,
      dropBody: () => undefined,
      withParams: () => ctx,
    };
    return ctx;
  }
});
