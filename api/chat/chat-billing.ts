// Bills one chat call: reserves credits before it, renews the lease while it runs, settles once at its end.
//
// The conditions of a reservation and the effects of a settlement are SQL, in db/chat/ and db/ledger/.
import type { ChatCallKey } from '../../db/chat/calls.ts';
import { makeId } from '../../db/ids.ts';
import type { SealedAnswer } from '../../db/idempotency/idempotency-keys.ts';
import { isAboutSpender } from '../../db/ledger/reservations.ts';
import { isOutcomeUnknown } from '../../db/unknown-outcomes.ts';
import type { BillingBasis, ChatCallStatus, TriedUpstream } from '../../domain/chat-calls.ts';
import { toCredits, type MicroCredits } from '../../domain/credits.ts';
import type { GatewayError } from '../../domain/errors.ts';
import { countPromptTokens } from '../../providers/chat/tokens.ts';
import type { KeyCaller, Reply, RequestContext } from '../context.ts';
import {
  answeredWith,
  begunWith,
  claimOf,
  idempotencyInProgress,
  sealAnswer,
} from '../idempotent-effects.ts';
import { computeChatCost, type ChatCost, type Consumption } from './chat-cost.ts';
import { explainRefusal } from './chat-errors.ts';
import { startLeaseRenewal } from './lease-renewal.ts';
import { limitChat, type PricedChat } from './request/read-chat.ts';
import { undoReservation } from './undo-reservation.ts';

/** The end of a call, as it is charged and recorded. */
export interface ChatOutcome {
  status: ChatCallStatus;
  consumption: Consumption;
  /** The error that the caller was answered; null without one, or when the caller had disconnected. */
  error: GatewayError | null;
  upstreamRequestId: string | null;
  tried: readonly TriedUpstream[];
}

/** The cost of a call, as the usage of its answer shows it to the caller. */
export interface ChatCharge {
  promptTokens: number;
  completionTokens: number;
  credits_estimate: number;
  credits_charged: number;
}

const BASIS: Record<Consumption['kind'], BillingBasis> = {
  reported: 'upstream',
  counted: 'estimated',
  nothing: 'none',
};

export class ChatBilling {
  readonly #ctx: RequestContext<KeyCaller>;
  #chat: PricedChat;
  readonly #id = makeId('call');
  readonly #startedAt = performance.now();
  #stopRenewal = (): void => undefined;
  #isFinished = false;
  /** Null before it is asked for. Renewals and the end ask, and a long prompt takes a while. */
  #promptTokens: Promise<number> | null = null;
  /** What was really taken, once that is known. */
  #charged: MicroCredits | null = null;

  constructor(ctx: RequestContext<KeyCaller>, chat: PricedChat) {
    this.#ctx = ctx;
    this.#chat = chat;
  }

  /**
   * Reserves the estimate, or more for a longer answer, and resolves to the chat within what was reserved.
   * Throws 402, 403 or 401 when the reservation is refused; then nothing is reserved.
   */
  async reserve(): Promise<PricedChat> {
    const { requestId, services, caller } = this.#ctx;
    const { model, stream, estimate, estimateMax } = this.#chat;
    const call = { ...this.#callKey(), requestId, model: model.id, stream, claim: claimOf(this.#ctx) };
    const amounts = { amount: estimate, amountMax: estimateMax };
    const verdict = await services.chat.calls.reserve({ ...call, ...amounts }).catch((error: unknown) => {
      if (isOutcomeUnknown(error)) void undoReservation(this.#ctx, this.#callKey());
      throw error;
    });
    if (verdict.kind === 'key_taken') throw idempotencyInProgress();
    if (verdict.kind === 'refused') {
      if (isAboutSpender(verdict.reason)) services.keyCache.forget(caller.key);
      throw explainRefusal(verdict, estimate);
    }
    begunWith(this.#ctx);
    this.#chat = limitChat(this.#chat, verdict.amount);
    return this.#chat;
  }

  /**
   * Renews the lease periodically until `finish`. Each renewal records what `textSoFar` would cost: if this
   * process dies, the sweeper charges the last amount recorded. `onLoss` is called when it did so although
   * this process lives: then nothing more may be delivered.
   */
  keepAlive(textSoFar: () => string, onLoss: () => void): void {
    const { services, requestId } = this.#ctx;
    this.#stopRenewal = startLeaseRenewal({
      leaseSeconds: services.chat.leaseSeconds,
      renew: async () => this.#renewLease(textSoFar()),
      onFailure: (error) => services.log.warn({ err: error, requestId }, 'a lease was not renewed'),
      onLoss: () => {
        services.log.warn({ requestId }, 'the call was settled, because its lease was over');
        onLoss();
      },
    });
  }

  /**
   * Charges what was consumed, at most what was reserved, releases the rest, and records the call. Later
   * calls write nothing: the first outcome counts.
   */
  async finish(outcome: ChatOutcome): Promise<ChatCharge> {
    const cost = await this.#computeCost(outcome);
    const charged = await this.#settle(outcome, cost, null);
    return this.#chargeOf({ ...cost, amount: charged ?? cost.amount });
  }

  /**
   * The same for a call whose answer is complete: `present` says it with its charge. In the statement that
   * charges, the answer is kept for repeats, so that one that was paid for is not lost with this process.
   */
  async finishWith(outcome: ChatOutcome, present: (charge: ChatCharge) => Reply): Promise<Reply> {
    const cost = await this.#computeCost(outcome);
    const reply = present(this.#chargeOf(cost));
    const charged = await this.#settle(outcome, cost, sealAnswer(this.#ctx, reply));
    if (charged === null) return reply;
    if (charged !== cost.amount) return present(this.#chargeOf({ ...cost, amount: charged }));
    answeredWith(this.#ctx);
    return reply;
  }

  #computeCost({ consumption }: ChatOutcome): Promise<ChatCost> {
    this.#stopRenewal(); // before the first await: a renewal under way must not schedule another one
    return computeChatCost(this.#chat, consumption, this.#countPrompt);
  }

  /** Answers what was really taken; null while that is not known. */
  async #settle(
    { status, consumption, error, upstreamRequestId, tried }: ChatOutcome,
    { promptTokens, completionTokens, amount, loss }: ChatCost,
    answer: SealedAnswer | null,
  ): Promise<MicroCredits | null> {
    if (this.#isFinished) return this.#charged;
    this.#isFinished = true;
    const family = tried.at(-1)?.family ?? null;
    this.#ctx.trace.chat = { model: this.#chat.model.id, family, promptTokens, completionTokens };
    this.#charged = await this.#ctx.services.chat.settlementWriter.write({
      ...this.#callKey(),
      charged: amount,
      loss,
      status,
      promptTokens,
      completionTokens,
      billingBasis: BASIS[consumption.kind],
      latencyMs: Math.round(performance.now() - this.#startedAt),
      upstreamRequestId,
      errorCode: error?.code ?? null,
      errorMessage: error?.message ?? null,
      tried,
      answer,
    });
    return this.#charged;
  }

  #chargeOf({ promptTokens, completionTokens, amount }: ChatCost): ChatCharge {
    return {
      promptTokens,
      completionTokens,
      credits_estimate: toCredits(this.#chat.estimate),
      credits_charged: toCredits(amount),
    };
  }

  /** False: the call was settled, since its lease was over. */
  async #renewLease(text: string): Promise<boolean> {
    const consumption: Consumption = text === '' ? { kind: 'nothing' } : { kind: 'counted', text };
    const cost = await computeChatCost(this.#chat, consumption, this.#countPrompt);
    const { promptTokens, completionTokens, amount } = cost;
    const known = { charge: amount, promptTokens, completionTokens };
    return this.#ctx.services.chat.calls.renewLease({ ...this.#callKey(), ...known });
  }

  readonly #countPrompt = (): Promise<number> =>
    (this.#promptTokens ??= countPromptTokens(this.#chat.upstreamBody));

  #callKey(): ChatCallKey {
    const { caller } = this.#ctx;
    return { id: this.#id, userId: caller.user.id, keyId: caller.key.id };
  }
}
