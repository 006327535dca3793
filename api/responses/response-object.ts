// Writes the JSON of a response, its usage and its events, as OpenAI's Responses API has them.
import type { GatewayError } from '../../domain/errors.ts';
import type { ChatCharge } from '../chat/chat-billing.ts';
import { errorOfEvent } from '../chat/chat-form.ts';
import { asNumber, membersOf } from './members.ts';
import type { ResponsesBody } from './responses-body.ts';

export interface ResponseHead {
  id: string;
  /** Unix seconds. */
  createdAt: number;
  /** The id of the catalogue's model. */
  model: string;
}

/** Why an answer ended early, in OpenAI's words. */
export type IncompleteReason = 'max_output_tokens' | 'content_filter';

export interface ResponseEnd {
  status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  output: readonly object[];
  usage?: object | string;
  incompleteReason?: IncompleteReason | null;
  error?: { code: string; message: string };
}

/** Repeats the choices of the request, as OpenAI does. */
export function writeResponse(head: ResponseHead, request: ResponsesBody, end: ResponseEnd): object {
  const { status, output, usage = null, incompleteReason = null, error = null } = end;
  const { effort = null, summary = null } = request.reasoning ?? {};
  return {
    id: head.id,
    object: 'response',
    created_at: head.createdAt,
    status,
    background: false,
    completed_at: status === 'completed' ? Math.trunc(Date.now() / 1000) : null,
    error,
    incomplete_details: incompleteReason && { reason: incompleteReason },
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    metadata: request['metadata'] ?? {},
    model: head.model,
    output,
    parallel_tool_calls: request['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    reasoning: { effort, summary },
    service_tier: request['service_tier'] ?? 'default',
    store: false,
    temperature: request['temperature'] ?? 1,
    text: { format: { type: 'text' }, ...request.text },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_p: request['top_p'] ?? 1,
    truncation: request['truncation'] ?? 'disabled',
    usage,
    user: request['user'] ?? null,
  };
}

/** The usage of a response, from usage under the names of chat completions; null: counted here. */
export function presentUsage(reported: unknown, charge: ChatCharge): object {
  const { promptTokens, completionTokens, ...credits } = charge;
  const { prompt_tokens_details: prompt, completion_tokens_details: answer } = membersOf(reported);
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: asNumber(membersOf(prompt)['cached_tokens']) ?? 0 },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: asNumber(membersOf(answer)['reasoning_tokens']) ?? 0 },
    total_tokens: promptTokens + completionTokens,
    ...credits,
  };
}

/** One server-sent event. */
export function writeEvent(type: string, sequenceNumber: number, fields: object): string {
  const data = JSON.stringify({ type, sequence_number: sequenceNumber, ...fields });
  return `event: ${type}\ndata: ${data}\n\n`;
}

/** The reason of an answer that ended early, by the finish of a chat; null for one that is complete. */
export function incompleteReasonOf(finish: unknown): IncompleteReason | null {
  if (finish === 'length') return 'max_output_tokens';
  return finish === 'content_filter' ? 'content_filter' : null;
}

export interface BrokenResponse {
  /** The response as far as it was told. */
  head: object;
  /** The number of the last event. */
  sequence: number;
  requestId: string;
}

/**
 * The error, then the response as failed, in OpenAI's order. The error has OpenAI's members, and the error as
 * bodies have it, by which OpenAI's clients throw.
 */
export function writeFailure(error: GatewayError, { head, sequence, requestId }: BrokenResponse): string {
  const { code, message, param } = error;
  const told = { code, message, param, error: errorOfEvent(error, requestId) };
  const response = { ...head, status: 'failed', error: { code, message }, usage: null };
  return writeEvent('error', sequence + 1, told) + writeEvent('response.failed', sequence + 2, { response });
}
