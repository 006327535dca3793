// What a stream has brought so far: the answer's text, for counting it, and all of it where a repeat may ask for it again.
import { outputTextOf } from '../../providers/chat/usage.ts';
import { textOfEvents } from './stream-events.ts';

/** Events are many times as long as their text, so long streams are read while they run; short ones never are. */
const UNREAD_CHARACTERS_MAX = 64 * 1024;

export class DeliveredEvents {
  readonly #keepsAll: boolean;
  #first = '';
  #text = '';
  #unread: string[] = [];
  #unreadCharacters = 0;
  #read: string[] = [];

  constructor(keepsAll: boolean) {
    this.#keepsAll = keepsAll;
  }

  /** `events`: one or several whole ones. */
  add(events: string): void {
    if (this.#first === '') this.#first = events;
    this.#unread.push(events);
    this.#unreadCharacters += events.length;
    if (this.#unreadCharacters > UNREAD_CHARACTERS_MAX) this.#readOn();
  }

  get isEmpty(): boolean {
    return this.#first === '';
  }

  /** The first of what was added. */
  get first(): string {
    return this.#first;
  }

  /** What the model wrote. */
  text(): string {
    this.#readOn();
    return this.#text;
  }

  /** Everything as it was added; only what has not been read yet, unless it keeps all. */
  whole(): string {
    return [...this.#read, ...this.#unread].join('');
  }

  #readOn(): void {
    const events = this.#unread.join('');
    this.#text += textOfEvents(events, outputTextOf);
    if (this.#keepsAll) this.#read.push(events);
    this.#unread = [];
    this.#unreadCharacters = 0;
  }
}
