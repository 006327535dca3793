// The form of an answer of an upstream that speaks Responses: passed on, with its model and its cost put in.
import type { AnswerForm, StreamForm, WholeForm } from '../chat/answer-form.ts';
import { isTooDeep } from '../../domain/json.ts';
import { MalformedStreamError, parseEvent, type StreamPiece } from '../chat/stream-events.ts';
import { EventChunks } from './event-chunks.ts';
import type { EventOutline } from './event-outline.ts';
import { asText, listOf, membersOf, type Members } from './members.ts';
import { presentUsage, writeEvent, writeFailure } from './response-object.ts';

/** Events that hold the response, an error, usage or chat. In the model's own words quotes are escaped. */
const NEEDS_A_LOOK = /"response"\s*:\s*\{|"error"\s*:\s*["{]|"type"\s*:\s*"error"|"choices"\s*:\s*\[/;
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
    isAnswer: ({ object, output, status, error }) =>
      object === 'response' && Array.isArray(output) && status !== 'failed' && !error,
    usageOf: ({ usage }) => toChatUsage(usage),
    billableTextOf: ({ output }) => textOfItems(output),
    presentUsage,
    present: (json, usage) => ({ ...json, model, store: false, usage }),
    source: { kind: 'passed', model },
  };
}

function streamForm(model: string, requestId: string): StreamForm {
  const chunks = new EventChunks();
  let head: Record<string, unknown> = { object: 'response', id: `resp_${requestId}`, output: [] };
  let end: ((usage: object) => string) | null = null;
  let sequence = -1;

  /** What a long event holds is read and replaced in its text. */
  const look = (event: string, outline: EventOutline | null): StreamPiece => {
    const outlined = outline?.read(event, 'delta') ?? null;
    const json = outlined ?? parseShallow(event);
    const { type, response, sequence_number: number, ...others } = json;
    if (typeof number === 'number') sequence = number;
    const failure = failureIn(json);
    if (failure) return failure;
    if (typeof type !== 'string' || typeof response !== 'object' || response === null)
      return { kind: 'text', text: `${event}\n\n`, ...(outlined && { counted: countedOf(outlined) }) };
    const renamed = { ...response, model, store: false };
    head = renamed;
    const write = (members: object, usage: object | null): string =>
      outline && outlined
        ? `${outline.replace(event, 'response', jsonOf({ model, store: false, ...(usage && { usage }) }))}\n\n`
        : writeEvent(type, sequence, { ...members, response: { ...renamed, ...(usage && { usage }) } });
    if (!LAST.includes(type))
      return { kind: 'text', text: write(others, null), ...(outlined && { counted: countedOf(outlined) }) };
    end = (usage) => write({}, usage);
    return { kind: 'usage', usage: toChatUsage(Reflect.get(response, 'usage')), text: null };
  };
  const lookAtShort = (events: string): StreamPiece[] => {
    const pieces = piecesOf(events, (event) => look(event, null));
    sequence = lastSequenceIn(events) ?? sequence;
    return pieces;
  };

  return {
    read: (chunk) => {
      let pieces: StreamPiece[] = [];
      for (const { text, outline } of chunks.add(chunk)) {
        const found = outline ? [look(text, outline)] : lookAtShort(text);
        pieces = pieces.length === 0 ? found : [...pieces, ...found];
      }
      return end ? [...pieces, { kind: 'done' }] : pieces;
    },
    readEnd: () => [], // whether it is whole is seen by its last event
    billableTextOf: textOfEvent,
    isFinished: () => end !== null,
    render: (events) => events,
    requireEnd: () => {
      if (!end) throw new MalformedStreamError('a response without its end');
    },
    end: (usage, charge) => {
      const presented = presentUsage(usage, charge);
      return end
        ? end(presented)
        : writeEvent('response.completed', sequence, { response: { ...head, usage: presented } });
    },
    fail: (error) => writeFailure(error, { head, sequence, requestId }),
  };
}

/** Those of whole events, of which `look` reads the ones that may hold what matters. */
function piecesOf(events: string, look: (event: string) => StreamPiece): StreamPiece[] {
  if (!NEEDS_A_LOOK.test(events)) return [{ kind: 'text', text: events }];
  return events
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) =>
      NEEDS_A_LOOK.test(event) ? look(event) : ({ kind: 'text', text: `${event}\n\n` } as const),
    );
}

/** The members of an event's data; throws MalformedStreamError where it is nested too deeply. */
function parseShallow(event: string): Members {
  const json = membersOf(parseEvent(event));
  if (isTooDeep(json)) throw new MalformedStreamError('an event nested too deeply');
  return json;
}

/** The short event that is counted in place of a long one: most of those repeat what others said. */
function countedOf({ type, delta, item }: Members): string {
  return `data: ${JSON.stringify({ type, delta, item })}\n\n`;
}

function jsonOf(values: object): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]));
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

/** The failure that an event reports; null for others. Throws MalformedStreamError for a chunk of chat. */
function failureIn(json: Members): StreamPiece | null {
  const { type, error, choices } = json;
  // Some services end a stream with an error as bodies have it.
  const isFailure = FAILED.includes(type) || (type === undefined && error);
  if (isFailure) return { kind: 'error', message: messageOf(json) };
  // It would be passed on uncounted, under the upstream's name of the model.
  if (type === undefined && Array.isArray(choices)) throw new MalformedStreamError('events of chat');
  return null;
}

function messageOf({ message, error, response }: Record<string, unknown>): string | null {
  if (typeof error === 'string') return error;
  const failure = membersOf(error ?? membersOf(response)['error']);
  const found = message ?? failure['message'];
  return typeof found === 'string' ? found : null;
}
