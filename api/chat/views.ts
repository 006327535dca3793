// The views of a chat call: the usage in the answer itself, and the record that its owner can list.
import type { ChatCall } from '../../db/entities/chat-calls.ts';
import { toCredits } from '../../domain/credits.ts';
import type { ChatCallView } from '../shapes/chat.ts';
import type { ChatCharge } from './chat-billing.ts';

/**
 * The usage with what the call cost. `reported` is the upstream's usage, whose details are kept; null if
 * counted.
 */
export function presentUsage(reported: unknown, { promptTokens, completionTokens, ...credits }: ChatCharge) {
  const counted = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
  const details = typeof reported === 'object' && reported !== null ? reported : {};
  return { ...details, ...counted, ...credits };
}

/** The record of one chat call, for its owner. */
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
