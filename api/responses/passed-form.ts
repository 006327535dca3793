// The form of an answer of an upstream that speaks Responses: passed on, with its model and its cost put in.
import { StringDecoder } from 'node:string_decoder';
import type { AnswerForm, StreamForm, WholeForm } from '../chat/answer-form.ts';
import { isTooDeep } from '../../domain/json.ts';
import { MalformedStreamError, parseEvent, type StreamPiece } from '../chat/stream-events.ts';
import { asText, listOf, membersOf } from './members.ts';
import { presentUsage, writeEvent, writeFailure } from './response-object.ts';

/** Longest event: the last one repeats the request and the whole answer. */
const EVENT_CHARACTERS_MAX = 16 * 1024 * 1024;
/** Events that hold the response, an error or usage. In the model's own words quotes are escaped. */
const NEEDS_A_LOOK = /"(?:response|error)"\s*:\s*\{|"type"\s*:\s*"error"/;
const LAST: readonly unknown[] = ['response.completed', 'response.incomplete'];
const FAILED: readonly unknown[] = ['response.failed', 'response.cancelled', 'error'];
/** What a delta's event adds to the answer. The `done` events repeat it. */
const DELTA = /^response\.[a-z_.]+\.delta$/;
const STARTED = 'response.output_item.added';

/** `model` is the id of the catalogue's model. */
export function passedForm(model: string, requestId: string): AnswerForm {
  return { whole: wholePassed({ model }), openStream: () => streamForm(model, requestId) };
}

export function wholePassed({ model }: { model: string }): WholeForm {
  return {
    isAnswer: ({ object, output, status }) =>
      object === 'response' && Array.isArray(output) && status !== 'failed',
    usageOf: ({ usage }) => toChatUsage(usage),
    billableTextOf: ({ output }) => textOfItems(output),
    presentUsage,
    present: (json, usage) => ({ ...json, model, store: false, usage }),
    source: { kind: 'passed', model },
  };
}

function streamForm(model: string, requestId: string): StreamForm {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let head: Record<string, unknown> = { object: 'response', id: `resp_${requestId}`, output: [] };
  let last: { type: string; response: Record<string, unknown> } | null = null;
  let sequence = -1;

  const look = (event: string): StreamPiece => {
    const json = membersOf(parseEvent(event));
    if (isTooDeep(json)) throw new MalformedStreamError('an event nested too deeply');
    const { type, response, sequence_number: number, ...others } = json;
    if (typeof number === 'number') sequence = number;
    // Some services end a stream with an error as bodies have it.
    const isFailure = FAILED.includes(type) || (type === undefined && json['error']);
    if (isFailure) return { kind: 'error', message: messageOf(json) };
    if (typeof type !== 'string' || typeof response !== 'object' || response === null)
      return { kind: 'text', text: `${event}\n\n` };
    const renamed = { ...response, model, store: false };
    head = renamed;
    if (!LAST.includes(type))
      return { kind: 'text', text: writeEvent(type, sequence, { ...others, response: renamed }) };
    last = { type, response: renamed };
    return { kind: 'usage', usage: toChatUsage(Reflect.get(response, 'usage')), text: null };
  };

  return {
    read: (chunk) => {
      let text = rest + decoder.write(chunk);
      if (text.includes('\r')) text = text.replaceAll('\r\n', '\n');
      const end = text.lastIndexOf('\n\n');
      rest = end < 0 ? text : text.slice(end + 2);
      if (rest.length > EVENT_CHARACTERS_MAX) throw new MalformedStreamError('an event without an end');
      const whole = end < 0 ? '' : text.slice(0, end + 2);
      if (whole === '') return [];
      const pieces: StreamPiece[] = NEEDS_A_LOOK.test(whole)
        ? whole
            .split('\n\n')
            .filter((event) => event !== '')
            .map((event) =>
              NEEDS_A_LOOK.test(event) ? look(event) : ({ kind: 'text', text: `${event}\n\n` } as const),
            )
        : [{ kind: 'text', text: whole }];
      sequence = lastSequenceIn(whole) ?? sequence;
      return last ? [...pieces, { kind: 'done' }] : pieces;
    },
    billableTextOf: textOfEvent,
    isFinished: () => last !== null,
    render: (events) => events,
    requireEnd: () => {
      if (!last) throw new MalformedStreamError('a response without its end');
    },
    end: (usage, charge) => {
      const { type, response } = last ?? { type: 'response.completed', response: head };
      return writeEvent(type, sequence, {
        response: { ...response, usage: presentUsage(usage, charge) },
      });
    },
    fail: (error) => writeFailure(error, { head, sequence, requestId }),
  };
}

/** Usage of a response under the names that chat completions give it. */
function toChatUsage(usage: unknown): unknown {
  const { input_tokens, output_tokens, total_tokens, input_tokens_details, output_tokens_details } =
    membersOf(usage);
  if (input_tokens === undefined) return null;
  return {
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens,
    prompt_tokens_details: input_tokens_details,
    completion_tokens_details: output_tokens_details,
  };
}

/** The text of one event: its delta, or the name of a tool that is called. */
function textOfEvent(json: unknown): string {
  const { type, delta, item } = membersOf(json);
  if (typeof type !== 'string') return '';
  if (type === STARTED) return asText(membersOf(item)['name']);
  return DELTA.test(type) && typeof delta === 'string' ? delta : '';
}

/** All text of an answer's items: of messages, reasoning, and calls of tools. */
function textOfItems(output: unknown): string {
  return listOf(output)
    .map((item) => {
      const { name, arguments: parameters, input, content, summary } = membersOf(item);
      const parts = [...listOf(content), ...listOf(summary)].map((part) => {
        const { text, refusal } = membersOf(part);
        return [text, refusal];
      });
      return [name, parameters, input, ...parts.flat()].filter((text) => typeof text === 'string').join('');
    })
    .join('');
}

function lastSequenceIn(events: string): number | null {
  const at = events.lastIndexOf('"sequence_number"');
  const [, number] =
    /^"sequence_number"\s*:\s*(\d{1,9})/.exec(events.slice(at < 0 ? events.length : at)) ?? [];
  return number === undefined ? null : Number(number);
}

function messageOf({ message, error, response }: Record<string, unknown>): string | null {
  const failure = membersOf(error ?? membersOf(response)['error']);
  const found = message ?? failure['message'];
  return typeof found === 'string' ? found : null;
}
