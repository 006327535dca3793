// Presents a chat call as JSON: the usage in its answer, and the record that its owner can list.
import type { EndedChatCall } from '../../db/chat/call-records.ts';
import { toCredits } from '../../domain/credits.ts';
import type { ChatCallView } from '../shapes/chat.ts';
import type { ChatCharge } from './chat-billing.ts';

/**
 * Presents the usage with what the call cost. `reported` is the upstream's usage, whose details are kept;
 * null if the tokens were counted here.
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

/** Presents the record of one chat call to its owner. */
export function presentChatCall(call: EndedChatCall): ChatCallView {
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
