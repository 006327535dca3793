// What callers read of a chat call: its usage in the answer itself, and its record afterwards.
import type { ChatCall } from '../../db/entities/chat-calls.ts';
import { toCredits } from '../../domain/credits.ts';
import type { ChatCallView } from '../shapes/chat.ts';
import type { ChatCharge } from './chat-billing.ts';

/** The upstream's own words where they can be believed, and what the call cost. `reported` is null where ours is told. */
export function presentUsage(reported: unknown, { promptTokens, completionTokens, ...credits }: ChatCharge) {
  const counted = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
  const details = typeof reported === 'object' && reported !== null ? reported : {};
  return { ...details, ...counted, ...credits };
}

/** One chat call, for its owner. */
export function presentChatCall(call: ChatCall): ChatCallView {
  return {
    id: call.id,
    requestId: call.requestId,
    upstreamRequestId: call.upstreamRequestId ?? null,
    keyId: call.keyId,
    model: call.model,
    stream: call.stream,
    status: call.status,
    promptTokens: call.promptTokens ?? null,
    completionTokens: call.completionTokens ?? null,
    creditsReserved: toCredits(call.creditsReserved),
    creditsCharged: toCredits(call.creditsCharged),
    billingBasis: call.billingBasis,
    latencyMs: call.latencyMs,
    errorCode: call.errorCode ?? null,
    errorMessage: call.errorMessage ?? null,
    createdAt: call.createdAt.toISOString(),
  };
}
