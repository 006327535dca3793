// Server-sent events as they come from an upstream: cut into events, and looked into only where billing needs it.
import { StringDecoder } from 'node:string_decoder';

/** What a piece of a stream is to the one who passes it on. */
export type StreamPiece =
  /** To be passed on as it is: one or several whole events. */
  | { kind: 'text'; text: string }
  /** An event with usage. `text` is what is to be passed on of it, with the usage taken out; null: nothing. */
  | { kind: 'usage'; usage: unknown; text: string | null }
  /** The upstream says that it failed. */
  | { kind: 'error'; message: string | null }
  | { kind: 'done' };

/** One event may have so many characters; a stream that never ends one is broken. */
const EVENT_CHARACTERS_MAX = 4 * 1024 * 1024;
/** Members that need a look. In a text of the answer they would stand with backslashes before their quotes. */
const MAY_CONCERN_BILLING = /"usage"\s*:\s*\{|"error"\s*:|\[DONE\]/;

export class MalformedStreamError extends Error {}

/** Cuts a stream into pieces. Feed it chunks as they come. */
export class StreamEvents {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  /** The pieces that are complete now. Throws StreamBroken when an event has no end. */
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
}

/** The text that the model wrote in these events. */
export function textOfEvents(events: string, read: (json: unknown) => string): string {
  return events
    .split('\n\n')
    .filter(isNotEmpty)
    .map((event) => read(parseEvent(event)))
    .join('');
}

function inspectEvent(event: string): StreamPiece {
  const data = dataOf(event);
  if (data === '[DONE]') return { kind: 'done' };
  const json = parse(data);
  if (typeof json !== 'object' || json === null) return { kind: 'text', text: `${event}\n\n` };
  const error: unknown = Reflect.get(json, 'error');
  if (error !== undefined && error !== null) return { kind: 'error', message: messageOf(error) };
  const { usage, ...rest } = Object.fromEntries(Object.entries(json));
  if (typeof usage !== 'object' || usage === null) return { kind: 'text', text: `${event}\n\n` };
  const choices: unknown = rest['choices'];
  const hasChoices = Array.isArray(choices) && choices.length > 0;
  // Some compatible services put the usage on the last piece of the answer, or on every one.
  const text = hasChoices ? `data: ${JSON.stringify({ ...rest, usage: null })}\n\n` : null;
  return { kind: 'usage', usage, text };
}

function parseEvent(event: string): unknown {
  return parse(dataOf(event));
}

/** The lines of an event that are data, without their name. */
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

function messageOf(error: unknown): string | null {
  if (typeof error === 'string') return error;
  const message: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'message') : null;
  return typeof message === 'string' ? message : null;
}

function isNotEmpty(text: string): boolean {
  return text !== '';
}
