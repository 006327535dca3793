// Collects what a stream has delivered: its text, for counting it, and all events where a repeat may replay
// them.
import { outputTextOf } from '../../providers/chat/usage.ts';
import { textOfEvents } from './stream-events.ts';

/**
 * Events are many times as long as their text, so long streams are parsed while they run, short ones at the
 * end.
 */
const UNPARSED_CHARACTERS_MAX = 64 * 1024;

export class DeliveredEvents {
  readonly #keepsAll: boolean;
  #first = '';
  #text = '';
  #unparsed: string[] = [];
  #unparsedCharacters = 0;
  #parsed: string[] = [];

  /** `keepsAll`: events are kept for `all` after their text was read. */
  constructor(keepsAll: boolean) {
    this.#keepsAll = keepsAll;
  }

  /** Adds one whole event or several. */
  add(events: string): void {
    if (this.#first === '') this.#first = events;
    this.#unparsed.push(events);
    this.#unparsedCharacters += events.length;
    if (this.#unparsedCharacters > UNPARSED_CHARACTERS_MAX) this.#parse();
  }

  get isEmpty(): boolean {
    return this.#first === '';
  }

  /** The events of the first `add`; empty before it. */
  get first(): string {
    return this.#first;
  }

  /** The text that the model wrote so far. */
  text(): string {
    this.#parse();
    return this.#text;
  }

  /** All events as they were added; without `keepsAll` only those whose text was not read yet. */
  all(): string {
    return [...this.#parsed, ...this.#unparsed].join('');
  }

  #parse(): void {
    const events = this.#unparsed.join('');
    this.#text += textOfEvents(events, outputTextOf);
    if (this.#keepsAll) this.#parsed.push(events);
    this.#unparsed = [];
    this.#unparsedCharacters = 0;
  }
}
