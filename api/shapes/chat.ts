// JSON of chat: the completion, which is OpenAI's as the upstream sent it, and the record of a call.
import { z } from 'zod';
import { BILLING_BASES, CHAT_CALL_STATUSES } from '../../domain/chat-calls.ts';
import { credits, id, instant, modelId } from './basics.ts';

const tokens = z.int().min(0);

/** Names the fields that callers can rely on; further fields of the upstream pass through. */
export const CHAT_COMPLETION = z
  .looseObject({
    choices: z.array(z.looseObject({})).describe('As OpenAI describes them.'),
    usage: z
      .looseObject({
        prompt_tokens: tokens,
        completion_tokens: tokens,
        total_tokens: tokens,
        credits_estimate: credits.describe('Set aside before the call.'),
        credits_charged: credits.describe('What the call cost.'),
      })
      .describe('OpenAI’s figures, and the credits.'),
  })
  .meta({ id: 'ChatCompletion', description: 'OpenAI’s chat completion, with credits in its usage.' });

/** Names the fields that callers can rely on; further fields of the upstream pass through. */
export const RESPONSE = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    status: z.string().describe('completed, or incomplete where the answer was cut short.'),
    model: modelId,
    output: z.array(z.looseObject({ type: z.string() })).describe('As OpenAI describes it.'),
    store: z.literal(false),
    usage: z
      .looseObject({
        input_tokens: tokens,
        output_tokens: tokens,
        total_tokens: tokens,
        credits_estimate: credits.describe('Set aside before the call.'),
        credits_charged: credits.describe('What the call cost.'),
      })
      .describe('OpenAI’s figures, and the credits.'),
  })
  .meta({ id: 'Response', description: 'OpenAI’s response, with credits in its usage.' });

export const CHAT_CALL = z
  .strictObject({
    id: id('call'),
    requestId: z.string(),
    upstreamRequestId: z.string().nullable().describe('What the vendor calls the request.'),
    keyId: id('key'),
    model: modelId,
    stream: z.boolean(),
    status: z.enum(CHAT_CALL_STATUSES),
    promptTokens: tokens.nullable(),
    completionTokens: tokens.nullable(),
    creditsReserved: credits,
    creditsCharged: credits,
    billingBasis: z
      .enum(BILLING_BASES)
      .describe('Whose count the charge rests on: the vendor’s, ours, or nobody’s.'),
    latencyMs: z.int().min(0),
    errorCode: z.string().nullable(),
    errorMessage: z.string().nullable().describe('Masked.'),
    createdAt: instant,
  })
  .meta({ id: 'ChatCall', description: 'One chat call: what it used, what it cost, how it ended.' });
export type ChatCallView = z.output<typeof CHAT_CALL>;
