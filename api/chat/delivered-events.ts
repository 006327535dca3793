// Collects what a stream has delivered: its text for counting, and all events if a repeat may replay them.
import type { BodyBudget, BodyBudgetLimits } from '../http/body-budget.ts';
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

/**
 * The budget of what all streams keep in this process until it is written, counted in the same units: two
 * hundred usual streams of a user fit, and eight of the longest. Beside seven such users an eighth has half
 * of that.
 */
export const KEPT_BUDGET: Readonly<BodyBudgetLimits> = {
  bytesMax: 512 * 1024 ** 2,
  bytesPerCallerMax: 64 * 1024 ** 2,
  holdsAtMostFree: true,
};

/** Taken of the budget at once: some 200 tokens, so that small streams hold little that they do not use. */
const RESERVED_CHARACTERS = 64 * 1024;

/** Where a stream that is kept for repeats takes its room from. */
export interface KeptShare {
  budget: BodyBudget;
  userId: string;
}

/**
 * Longest text of a stream, in the same units: eight answers of a million tokens. No vendor's answers are as
 * long, and the memory of this process is not endless.
 */
const TEXT_CHARACTERS_MAX = 32 * 1024 * 1024;

/** Comments have none. */
const HAS_DATA = /^data:/m;

export class DeliveredEvents {
  #isEmpty = true;
  #text = '';
  #unparsed: string[] = [];
  #unparsedCharacters = 0;
  /** Null when it was too long to be kept: by itself, or beside the other streams of this user or of all. */
  #sent: string[] | null = [];
  #sentCharacters = 0;
  readonly #releases: (() => void)[] = [];
  readonly #share: KeptShare | null;

  /** Reads the text of one event. */
  readText: (json: unknown) => string = () => '';

  /** Creates an empty collection. With a share, what was sent is kept for `all`. */
  constructor(share: KeptShare | null) {
    this.#share = share;
  }

  /** Adds whole events of the upstream, and what the caller was sent for them. */
  add(events: string, sent: string): void {
    if (this.#share) this.#keep(sent, this.#share);
    this.#isEmpty &&= !HAS_DATA.test(events);
    this.#unparsed.push(events);
    this.#unparsedCharacters += events.length;
    if (this.#unparsedCharacters > UNPARSED_CHARACTERS_MAX) this.#parse();
  }

  /** Whether no event came, whatever was said of usage. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Whether there is more text than a model writes: the upstream sends without end. */
  get isEndless(): boolean {
    return this.#text.length > TEXT_CHARACTERS_MAX;
  }

  /** Returns the text that the model wrote so far, with what is not shown to readers of the answer. */
  text(): string {
    this.#parse();
    return this.#text;
  }

  /**
   * Returns all that was sent before `end`, which is kept with it; nothing without a share, and null when
   * both are too long to be kept.
   */
  allBefore(end: string): string | null {
    if (this.#share) this.#makeRoom(end.length, this.#share);
    return this.#sent && this.#sent.join('');
  }

  /** Gives back what was taken of the budget, once what was sent is kept elsewhere or given up. */
  release(): void {
    for (const release of this.#releases.splice(0)) release();
  }

  #keep(sent: string, share: KeptShare): void {
    this.#makeRoom(sent.length, share);
    this.#sent?.push(sent);
  }

  /** Keeps nothing where there is no room for so many characters more. */
  #makeRoom(characters: number, share: KeptShare): void {
    if (this.#sent === null) return;
    this.#sentCharacters += characters;
    if (this.#sentCharacters <= KEPT_CHARACTERS_MAX && this.#reserve(share)) return;
    this.#sent = null;
    this.release();
  }

  /** Reserves what the characters sent so far need. False when the budget is used up. */
  #reserve({ budget, userId }: KeptShare): boolean {
    while (this.#releases.length * RESERVED_CHARACTERS < this.#sentCharacters) {
      const release = budget.reserve(userId, RESERVED_CHARACTERS);
      if (!release) return false;
      this.#releases.push(release);
    }
    return true;
  }

  #parse(): void {
    const events = this.#unparsed.join('');
    this.#text += textOfEvents(events, this.readText);
    this.#unparsed = [];
    this.#unparsedCharacters = 0;
  }
}
