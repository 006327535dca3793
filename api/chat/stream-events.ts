// Splits an upstream's stream into server-sent events, and parses only those that billing needs.
import { StringDecoder } from 'node:string_decoder';
import { isTooDeep } from '../../domain/json.ts';
import { membersOf } from '../responses/members.ts';

/** A piece of a stream, as it is relayed. */
export type StreamPiece =
  /**
   * Whole events, one or several, to be passed on unchanged. `counted` holds short events that are counted in
   * their place.
   */
  | { kind: 'text'; text: string; counted?: string }
  /**
   * An event with usage. `text` is the event without it, to be passed on; null when nothing else is in it.
   */
  | { kind: 'usage'; usage: unknown; text: string | null }
  /** The upstream reports a failure inside its stream. */
  | { kind: 'error'; message: string | null }
  | { kind: 'done' };

/** Longest event. A stream with a longer one is malformed. */
const EVENT_CHARACTERS_MAX = 4 * 1024 * 1024;
/**
 * Members that billing needs. Inside the answer's text their quotes are escaped, so that they do not match.
 */
const MAY_CONCERN_BILLING =
  /"usage"\s*:\s*\{|"error"\s*:|"(?:object|type)"\s*:\s*"error"|^event: ?error|\[DONE\]/m;
/** Some services name the event instead of having an error in it. */
const NAMED_ERROR = /^event: ?error\s*$/m;

/** The error of a stream that does not look like an answer. */
export class MalformedStreamError extends Error {}

/** Splits a stream into pieces, chunk by chunk. */
export class StreamEvents {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  /** Returns the pieces completed by this chunk. Throws MalformedStreamError when an event is too long. */
  read(chunk: Buffer): StreamPiece[] {
    let text = this.#rest + this.#decoder.write(chunk);
    if (text.includes('\r')) text = text.replaceAll('\r\n', '\n');
    const end = text.lastIndexOf('\n\n');
    if (end < 0) {
      if (text.length > EVENT_CHARACTERS_MAX) throw new MalformedStreamError('an event without an end');
      this.#rest = text;
      return [];
    }
    this.#rest = text.slice(end + 2);
    const whole = text.slice(0, end + 2);
    return MAY_CONCERN_BILLING.test(whole)
      ? whole.split('\n\n').filter(isNotEmpty).map(inspectEvent)
      : [{ kind: 'text', text: whole }];
  }

  /**
   * Returns the last event of a stream that has ended, where its blank line is missing. Throws
   * MalformedStreamError when it is cut.
   */
  readEnd(): StreamPiece[] {
    const rest = (this.#rest + this.#decoder.end()).trim();
    this.#rest = '';
    if (rest.split('\n').every((line) => line === '' || line.startsWith(':'))) return [];
    if (dataOf(rest) !== '[DONE]' && parseEvent(rest) === null)
      throw new MalformedStreamError('an event that is cut');
    return [inspectEvent(rest)];
  }
}

/** Joins the texts that `read` finds in the JSON of these events. */
export function textOfEvents(events: string, read: (json: unknown) => string): string {
  return eachEvent(events).map(read).join('');
}

/** The JSON of each of these events. */
export function eachEvent(events: string): unknown[] {
  return events.split('\n\n').filter(isNotEmpty).map(parseEvent);
}

/** The JSON of an event's data; null where it is none. */
export function parseEvent(event: string): unknown {
  return parse(dataOf(event));
}

function inspectEvent(event: string): StreamPiece {
  const data = dataOf(event);
  if (data === '[DONE]') return { kind: 'done' };
  const json = parse(data);
  if (isTooDeep(json)) throw new MalformedStreamError('an event nested too deeply');
  if (isError(event, json)) return { kind: 'error', message: messageOf(json) };
  if (typeof json !== 'object' || json === null) return { kind: 'text', text: `${event}\n\n` };
  const { usage, ...rest } = Object.fromEntries(Object.entries(json));
  if (typeof usage !== 'object' || usage === null) return { kind: 'text', text: `${event}\n\n` };
  const choices: unknown = rest['choices'];
  const hasChoices = Array.isArray(choices) && choices.length > 0;
  // Some compatible services report usage in the last chunk of the answer, or in every chunk.
  const text = hasChoices ? `data: ${JSON.stringify({ ...rest, usage: null })}\n\n` : null;
  return { kind: 'usage', usage, text };
}

/** Joins the data lines of an event, without their field name. */
function dataOf(event: string): string {
  return event
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trimStart())
    .join('\n');
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

/** An error is a member, or the event itself is one; with some services it is the one item of a list. */
function isError(event: string, json: unknown): boolean {
  const { error, object, type } = membersOf(Array.isArray(json) ? json[0] : json);
  return Boolean(error) || object === 'error' || type === 'error' || NAMED_ERROR.test(event);
}

function messageOf(json: unknown): string | null {
  const { error, message } = membersOf(Array.isArray(json) ? json[0] : json);
  const found = typeof error === 'string' ? error : (membersOf(error)['message'] ?? message);
  return typeof found === 'string' ? found : null;
}

function isNotEmpty(text: string): boolean {
  return text !== '';
}
