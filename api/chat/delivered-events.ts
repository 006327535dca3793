// Collects what a stream has delivered: its text for counting, and all events if a repeat may replay them.
import { textOfEvents } from './stream-events.ts';

/**
 * Length of unparsed events from which they are parsed while the stream runs: events are many times as long
 * as their text. Short streams are parsed at their end.
 */
const UNPARSED_CHARACTERS_MAX = 64 * 1024;

/**
 * Most that is kept of one stream for repeats, in UTF-16 code units: about 28,000 tokens with an event each,
 * which few answers have. A user may have 200 streams under way, and each may have several times as much.
 */
const KEPT_CHARACTERS_MAX = 8 * 1024 * 1024;

export class DeliveredEvents {
  #isEmpty = true;
  #text = '';
  #unparsed: string[] = [];
  #unparsedCharacters = 0;
  /** Null when it was too long to be kept. */
  #sent: string[] | null = [];
  #sentCharacters = 0;
  readonly #keepsAll: boolean;

  /** Reads the text of one event. */
  readText: (json: unknown) => string = () => '';

  /** Creates an empty collection. `keepsAll`: what was sent is kept for `all`. */
  constructor(keepsAll: boolean) {
    this.#keepsAll = keepsAll;
  }

  /** Adds whole events of the upstream, and what the caller was sent for them. */
  add(events: string, sent: string): void {
    if (this.#keepsAll) this.#keep(sent);
    this.#isEmpty &&= events === '';
    this.#unparsed.push(events);
    this.#unparsedCharacters += events.length;
    if (this.#unparsedCharacters > UNPARSED_CHARACTERS_MAX) this.#parse();
  }

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Returns the text that the model wrote so far, with what is not shown to readers of the answer. */
  text(): string {
    this.#parse();
    return this.#text;
  }

  /** Returns all that was sent; nothing without `keepsAll`, and null when it was too long to be kept. */
  all(): string | null {
    return this.#sent && this.#sent.join('');
  }

  #keep(sent: string): void {
    this.#sentCharacters += sent.length;
    if (this.#sentCharacters > KEPT_CHARACTERS_MAX) this.#sent = null;
    this.#sent?.push(sent);
  }

  #parse(): void {
    const events = this.#unparsed.join('');
    this.#text += textOfEvents(events, this.readText);
    this.#unparsed = [];
    this.#unparsedCharacters = 0;
  }
}
