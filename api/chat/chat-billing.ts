// The bill of one chat call: set aside before, kept alive while it runs, settled once however it ends.
import type { ChatCallRefusal, ChatCallVerdict, NewChatCall } from '../../db/chat/chat-ledger.ts';
import { makeId } from '../../db/ids.ts';
import { toCredits, type MicroCredits } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import { computeCharge, type Evidence } from '../../domain/pricing.ts';
import { countPromptTokens, countTokens } from '../../providers/chat/tokens.ts';
import type { ChatUsage } from '../../providers/chat/usage.ts';
import type { TriedUpstream } from '../../domain/chat-calls.ts';
import type { RequestContext, KeyCaller } from '../context.ts';
import { beginOnce } from '../idempotency.ts';
import type { PricedChat } from './read-chat.ts';
import type { BillingBasis, ChatCallStatus } from '../../domain/chat-calls.ts';

/** What is paid for. `counted`: the upstream said nothing that can be believed, so we count what it delivered. */
export type Consumption =
  | { kind: 'reported'; usage: ChatUsage }
  | { kind: 'counted'; text: string }
  | { kind: 'nothing' };

export interface ChatOutcome {
  status: ChatCallStatus;
  consumption: Consumption;
  error: GatewayError | null;
  upstreamRequestId: string | null;
  tried: readonly TriedUpstream[];
}

/** What a caller reads of it, next to the tokens. */
export interface ChatCharge {
  promptTokens: number;
  completionTokens: number;
  credits_estimate: number;
  credits_charged: number;
}

/** The first report about a running call comes early, because most end soon; the lease is renewed in good time. */
const FIRST_RENEWAL_MS = 5_000;
const RENEWALS_PER_LEASE = 3;

export class ChatBilling {
  readonly #call: RequestContext<KeyCaller>;
  readonly #chat: PricedChat;
  /** Of the reservation. */
  readonly id = makeId('res');
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #isSettled = false;
  /** The text that the caller was sent so far. */
  delivered = (): string => '';

  constructor(ctx: RequestContext<KeyCaller>, chat: PricedChat) {
    this.#call = ctx;
    this.#chat = chat;
  }

  /** Throws 402, 403 or 401, and then nothing was set aside. */
  async reserve(): Promise<void> {
    const { caller, requestId } = this.#call;
    const { model, stream, estimate } = this.#chat;
    const who = { userId: caller.user.id, keyId: caller.key.id, requestId };
    const wish = { id: this.id, ...who, model: model.id, stream, amount: estimate };
    const verdict = await this.#ask(wish);
    if (verdict.kind === 'refused') throw refusal(verdict.reason, estimate, verdict.available);
  }

  /** With an Idempotency-Key the reservation and the key are one transaction; without, it rides with others. */
  async #ask(wish: NewChatCall): Promise<ChatCallVerdict> {
    const { calls, leaseSeconds } = this.#call.services.chat;
    if (!this.#call.idempotency) return calls.reserve(wish);
    return beginOnce(
      this.#call,
      this.id,
      async (tx) => {
        const verdict = await calls.reserveIn(tx, wish);
        if (verdict.kind === 'refused') throw refusal(verdict.reason, wish.amount, verdict.available);
        return verdict;
      },
      leaseSeconds,
    );
  }

  /** Says now and then, until the call is settled, that it lives, and what it has delivered so far. */
  keepAlive(): void {
    const everyMs = (this.#call.services.chat.leaseSeconds * 1000) / RENEWALS_PER_LEASE;
    const renewal = async (): Promise<void> => {
      await this.#renew(this.delivered()).catch((error: unknown) => {
        this.#call.services.log.warn(
          { err: error, requestId: this.#call.requestId },
          'a lease was not renewed',
        );
      });
      if (!this.#isSettled) this.#timer = setTimeout(() => void renewal(), everyMs);
    };
    this.#timer = setTimeout(() => void renewal(), Math.min(FIRST_RENEWAL_MS, everyMs));
  }

  /** Charges what was consumed, at most what was set aside, and records the call. Only the first ending counts. */
  async finish(ending: ChatOutcome): Promise<ChatCharge> {
    const isFirst = !this.#isSettled;
    this.#isSettled = true; // before anything is waited for: a renewal under way must not arrange the next one
    clearTimeout(this.#timer);
    const tokens = await this.#tokensOf(ending.consumption);
    const { amount, loss } = ending.consumption.kind === 'nothing' ? FREE : this.#price(tokens);
    if (isFirst) {
      await this.#call.services.chat.settlementWriter.write({
        id: this.id,
        charged: amount,
        loss,
        status: ending.status,
        promptTokens: tokens.promptTokens,
        completionTokens: tokens.completionTokens,
        billingBasis: BASIS[ending.consumption.kind],
        latencyMs: Math.round(performance.now() - this.#startedAt),
        upstreamRequestId: ending.upstreamRequestId,
        errorCode: ending.error?.code ?? null,
        errorMessage: ending.error?.message ?? null,
        tried: ending.tried,
      });
    }
    return {
      promptTokens: tokens.promptTokens,
      completionTokens: tokens.completionTokens,
      credits_estimate: toCredits(this.#chat.estimate),
      credits_charged: toCredits(amount),
    };
  }

  async #renew(text: string): Promise<void> {
    const tokens = await this.#tokensOf(text === '' ? { kind: 'nothing' } : { kind: 'counted', text });
    const charge = text === '' ? 0n : this.#price(tokens).amount;
    await this.#call.services.chat.calls.renewLease({ id: this.id, charge, ...tokens });
  }

  #price(evidence: Evidence) {
    return computeCharge(this.#chat.price, this.#chat.order, evidence);
  }

  async #tokensOf(consumption: Consumption): Promise<Tokens & Evidence> {
    if (consumption.kind === 'reported') return consumption.usage;
    if (consumption.kind === 'nothing') return { promptTokens: 0, completionTokens: 0 };
    const promptTokens = await countPromptTokens(this.#chat.upstreamBody);
    return { promptTokens, completionTokens: await countTokens(consumption.text) };
  }
}

interface Tokens {
  promptTokens: number;
  completionTokens: number;
}

const FREE = { amount: 0n, loss: 0n };
const BASIS: Record<Consumption['kind'], BillingBasis> = {
  reported: 'upstream',
  counted: 'estimated',
  nothing: 'none',
};

function refusal(reason: ChatCallRefusal, required: MicroCredits, available: MicroCredits): GatewayError {
  if (reason !== 'insufficient_credits') return new GatewayError(reason);
  const extra = { required: toCredits(required), available: toCredits(available) };
  return new GatewayError('insufficient_credits', { extra });
}
