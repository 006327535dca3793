// Finds where the members of a long event stand in its text, while it arrives, without building its values.
import { MalformedStreamError } from '../chat/stream-events.ts';
import type { Members } from './members.ts';

/** Deepest nesting of what is passed on. */
const DEPTH_MAX = 100;
/** Members of the event and of the objects in it: a response has some thirty. */
const MEMBERS_MAX = 1_000;
/** Longer values are left out of what is read: those that matter have some twenty numbers. */
const VALUE_CHARACTERS_MAX = 16 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const LINE_FEED = 0x0a;

/** Positions are those in the event's text; `to` is the one after the end. */
interface Span {
  from: number;
  to: number;
}

interface Member extends Span {
  name: Span;
  /** The members of its value, where that is an object. */
  members: Member[];
}

/** Takes one event, its text in order in pieces of any length. */
export class EventOutline {
  readonly #members: Member[] = [];
  #count = 0;
  #position = 0;
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  #textFrom = 0;
  #lastText: Span = { from: 0, to: 0 };
  #isOnOneLine = true;

  /** Throws MalformedStreamError when the event has too many members, or is nested too deeply. */
  add(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      if (this.#isText) {
        at = this.#readText(text, at);
        continue;
      }
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#isText = true;
        this.#textFrom = this.#position + at;
      } else if (code === 0x7b || code === 0x5b) this.#open();
      else if (code === 0x7d || code === 0x5d) this.#close(this.#position + at);
      else if (this.#depth < 3) this.#readMember(code, this.#position + at);
      else if (code === LINE_FEED) this.#isOnOneLine = false;
    }
    this.#position += text.length;
  }

  /**
   * The members of the event and of the objects in it, without those whose values are long; `whole` is a text
   * of the event that is read at any length. Null when the data is no object, or on several lines.
   */
  read(event: string, whole: string): Members | null {
    if (this.#depth !== 0 || this.#isText || !this.#isOnOneLine || this.#count === 0) return null;
    try {
      return readMembers(event, this.#members, whole);
    } catch {
      return null;
    }
  }

  /**
   * The event with other values, given as JSON, of members of its object `name`. What that does not have is
   * put before its first member.
   */
  replace(event: string, name: string, values: Readonly<Record<string, string>>): string {
    const parent = this.#members.findLast((member) => nameOf(event, member) === name);
    const [first] = parent?.members ?? [];
    if (!parent || !first) return event;
    const names = new Set(parent.members.map((member) => nameOf(event, member)));
    const missing = Object.entries(values).filter(([each]) => !names.has(each));
    let text = event.slice(0, first.name.from);
    for (const [each, value] of missing) text += `${JSON.stringify(each)}:${value},`;
    let written = first.name.from;
    for (const member of parent.members) {
      const value = values[nameOf(event, member)];
      if (value === undefined) continue;
      text += event.slice(written, member.from) + value;
      written = member.to;
    }
    return text + event.slice(written);
  }

  /** Reads on within a text; returns the position of its last character, or of the last of this piece. */
  #readText(text: string, from: number): number {
    for (let at = from; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === BACKSLASH) this.#isEscaped = true;
      else if (code === QUOTE) {
        this.#isText = false;
        if (this.#depth < 3) this.#lastText = { from: this.#textFrom, to: this.#position + at + 1 };
        return at;
      }
    }
    return text.length;
  }

  #open(): void {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new MalformedStreamError('an event nested too deeply');
  }

  #close(position: number): void {
    if (this.#depth < 3) this.#endMember(position);
    this.#depth -= 1;
  }

  #readMember(code: number, position: number): void {
    if (code === LINE_FEED && this.#depth > 0) this.#isOnOneLine = false;
    if (code === COMMA) this.#endMember(position);
    if (code !== COLON || this.#depth === 0) return;
    this.#count += 1;
    if (this.#count > MEMBERS_MAX) throw new MalformedStreamError('an event with too many members');
    const siblings = this.#depth === 1 ? this.#members : this.#members.at(-1)?.members;
    siblings?.push({ name: this.#lastText, from: position + 1, to: position + 1, members: [] });
  }

  /** Ends the last member at this depth; a list has none. */
  #endMember(position: number): void {
    const member = this.#depth === 1 ? this.#members.at(-1) : this.#members.at(-1)?.members.at(-1);
    if (member) member.to = position;
  }
}

/** Throws when a name or value is no JSON. */
function readMembers(event: string, members: readonly Member[], whole: string): Members {
  const read: Record<string, unknown> = {};
  for (const member of members) {
    const name = nameOf(event, member);
    const isShort = member.to - member.from <= VALUE_CHARACTERS_MAX;
    if (member.members.length > 0 && !isShort) read[name] = readMembers(event, member.members, '');
    else if (isShort || name === whole) read[name] = JSON.parse(event.slice(member.from, member.to));
  }
  return read;
}

/** Throws when it is no JSON. */
function nameOf(event: string, { name }: Member): string {
  const parsed: unknown = JSON.parse(event.slice(name.from, name.to));
  return String(parsed);
}
