// Puts the events of a stream together from chunks, and outlines long ones while they arrive.
import { StringDecoder } from 'node:string_decoder';
import { MalformedStreamError } from '../chat/stream-events.ts';
import { EventOutline } from './event-outline.ts';

/** Longest event: the last one repeats the request and the whole answer. */
const EVENT_CHARACTERS_MAX = 16 * 1024 * 1024;
/** Longer ones are outlined: parsing and writing the worst of this length take 20 ms. */
const SHORT_CHARACTERS_MAX = 256 * 1024;

export type ArrivedEvents =
  /** Whole events with their ends, none of them long; may be empty. */
  | { text: string; outline: null }
  /** One event without its end. */
  | { text: string; outline: EventOutline };

/** An event whose end has not come; it is joined once, since it may come in a thousand chunks. */
interface LongEvent {
  pieces: string[];
  characters: number;
  outline: EventOutline;
}

export class EventChunks {
  readonly #decoder = new StringDecoder('utf8');
  #return = '';
  #rest = '';
  #long: LongEvent | null = null;

  /** Returns the events that this chunk completes. Throws MalformedStreamError when one is too long. */
  add(chunk: Buffer): ArrivedEvents[] {
    let text = this.#decoder.write(chunk);
    if (this.#return !== '' || text.includes('\r')) text = this.#withoutReturns(text);
    if (!this.#long) return this.#addShort(text);
    const end = endIn(text, this.#long);
    if (end < 0) {
      extend(this.#long, text);
      return [];
    }
    extend(this.#long, text.slice(0, end));
    const { pieces, outline } = this.#long;
    this.#long = null;
    const event = pieces.join('');
    return [{ text: event.trimEnd(), outline }, ...this.#addShort(text.slice(end).replace(/^\n+/, ''))];
  }

  /** Holds a last one back, since its line feed may come with the next chunk. */
  #withoutReturns(added: string): string {
    const text = this.#return + added;
    this.#return = text.endsWith('\r') ? '\r' : '';
    return text.slice(0, text.length - this.#return.length).replaceAll('\r\n', '\n');
  }

  #addShort(added: string): ArrivedEvents[] {
    const text = this.#rest + added;
    const end = text.lastIndexOf('\n\n');
    this.#rest = end < 0 ? text : text.slice(end + 2);
    if (this.#rest.length > SHORT_CHARACTERS_MAX) {
      this.#long = { pieces: [], characters: 0, outline: new EventOutline() };
      extend(this.#long, this.#rest);
      this.#rest = '';
    }
    return end < 0 ? [] : [{ text: text.slice(0, end + 2), outline: null }];
  }
}

/** Where the event ends in the text that follows; -1 when it goes on. */
function endIn(text: string, { pieces }: LongEvent): number {
  return pieces.at(-1)?.endsWith('\n') && text.startsWith('\n') ? 0 : text.indexOf('\n\n');
}

function extend(event: LongEvent, text: string): void {
  event.characters += text.length;
  if (event.characters > EVENT_CHARACTERS_MAX) throw new MalformedStreamError('an event without an end');
  if (text === '') return;
  event.pieces.push(text);
  event.outline.add(text);
}
