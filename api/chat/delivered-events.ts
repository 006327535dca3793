// Collects what a stream has delivered: its text for counting, and all events if a repeat may replay them.
import { billableTextOf } from '../../providers/chat/usage.ts';
import { textOfEvents } from './stream-events.ts';

/**
 * Length of unparsed events from which they are parsed while the stream runs: events are many times as long
 * as their text. Short streams are parsed at their end.
 */
const UNPARSED_CHARACTERS_MAX = 64 * 1024;

export class DeliveredEvents {
  readonly #keepsAll: boolean;
  #isEmpty = true;
  #text = '';
  #unparsed: string[] = [];
  #unparsedCharacters = 0;
  #parsed: string[] = [];

  /** Creates an empty collection. `keepsAll`: events are kept for `all` after their text was read. */
  constructor(keepsAll: boolean) {
    this.#keepsAll = keepsAll;
  }

  /** Adds one whole event or several. */
  add(events: string): void {
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

  /** Returns all events as they were added; without `keepsAll` only those whose text was not read yet. */
  all(): string {
    return [...this.#parsed, ...this.#unparsed].join('');
  }

  #parse(): void {
    const events = this.#unparsed.join('');
    this.#text += textOfEvents(events, billableTextOf);
    if (this.#keepsAll) this.#parsed.push(events);
    this.#unparsed = [];
    this.#unparsedCharacters = 0;
  }
}
