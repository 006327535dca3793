// Chat as callers read it: the answer, which is OpenAI's as the upstream gave it, and the record of a call afterwards.
import { z } from 'zod';
import { credits, id, instant, modelId } from './basics.ts';

export const CALL_STATUSES = ['completed', 'failed', 'cancelled'] as const;

const tokens = z.int().min(0);

/** What upstreams add passes through; what we promise is named. */
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

export const CHAT_CALL = z
  .strictObject({
    id: id('call'),
    requestId: z.string(),
    upstreamRequestId: z.string().nullable().describe('What the vendor calls the request.'),
    keyId: id('key'),
    model: modelId,
    stream: z.boolean(),
    status: z.enum(CALL_STATUSES),
    promptTokens: tokens.nullable(),
    completionTokens: tokens.nullable(),
    creditsReserved: credits,
    creditsCharged: credits,
    billingBasis: z
      .enum(['upstream', 'estimated', 'none'])
      .describe('Whose count the charge rests on: the vendor’s, ours, or nobody’s.'),
    latencyMs: z.int().min(0),
    errorCode: z.string().nullable(),
    errorMessage: z.string().nullable().describe('Masked.'),
    createdAt: instant,
  })
  .meta({ id: 'ChatCall', description: 'One chat call: what it used, what it cost, how it ended.' });
export type ChatCallView = z.output<typeof CHAT_CALL>;
