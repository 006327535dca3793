// One item of a response's output while it is written: a message, reasoning, or the call of a tool.
import { randomUUID } from 'node:crypto';

export type ItemKind = 'text' | 'refusal' | 'reasoning' | 'function' | 'custom';
type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface CallNames {
  callId: string;
  name: string;
}

/** The beginnings of OpenAI's ids. */
const PREFIX: Readonly<Record<ItemKind, string>> = {
  text: 'msg',
  refusal: 'msg',
  reasoning: 'rs',
  function: 'fc',
  custom: 'ctc',
};
/** The name of an item's text in the names of its events. */
const STEM: Readonly<Record<ItemKind, string>> = {
  text: 'response.output_text',
  refusal: 'response.refusal',
  reasoning: 'response.reasoning_text',
  function: 'response.function_call_arguments',
  custom: 'response.custom_tool_call_input',
};

/** An event without its sequence number and the place of its item. */
export type ItemEvent = readonly [type: string, fields: object];

export class OpenItem {
  readonly kind: ItemKind;
  readonly id: string;
  readonly #names: CallNames;
  readonly #texts: string[] = [];

  /** Creates an empty item; calls of tools have names. */
  constructor(kind: ItemKind, names: CallNames = { callId: '', name: '' }) {
    this.kind = kind;
    this.id = `${PREFIX[kind]}_${randomUUID().replaceAll('-', '')}`;
    this.#names = names;
  }

  add(text: string): void {
    this.#texts.push(text);
  }

  /** The events with which the item begins, while it is empty. */
  begin(): ItemEvent[] {
    const added: ItemEvent = ['response.output_item.added', { item: this.#json('in_progress', []) }];
    if (!this.#hasParts()) return [added];
    const part = this.#part('');
    return [added, ['response.content_part.added', { ...this.#place(), part }]];
  }

  /** The event of a piece of text, which is added. */
  continue(delta: string): ItemEvent {
    this.add(delta);
    const logprobs = this.kind === 'text' && { logprobs: [] };
    return [`${STEM[this.kind]}.delta`, { ...this.#place(), delta, ...logprobs }];
  }

  /** The events with which the item ends. */
  end(status: 'completed' | 'incomplete'): ItemEvent[] {
    const text = this.#text();
    const done: ItemEvent = [`${STEM[this.kind]}.done`, { ...this.#place(), ...this.#whole(text) }];
    const last: ItemEvent = ['response.output_item.done', { item: this.json(status) }];
    if (!this.#hasParts()) return [done, last];
    const part = this.#part(text);
    return [done, ['response.content_part.done', { ...this.#place(), part }], last];
  }

  json(status: ItemStatus): object {
    return this.#json(status, [this.#part(this.#text())]);
  }

  /** Whether nothing can follow that makes sense: the arguments of a function are whole JSON. */
  isWhole(): boolean {
    if (this.kind !== 'function') return true;
    try {
      JSON.parse(this.#text());
      return true;
    } catch {
      return false;
    }
  }

  #json(status: ItemStatus, parts: readonly object[]): object {
    const { id } = this;
    const { callId, name } = this.#names;
    const text = parts.length === 0 ? '' : this.#text();
    if (this.kind === 'function')
      return { id, type: 'function_call', status, call_id: callId, name, arguments: text };
    if (this.kind === 'custom')
      return { id, type: 'custom_tool_call', status, call_id: callId, name, input: text };
    if (this.kind === 'reasoning') return { id, type: 'reasoning', status, summary: [], content: parts };
    return { id, type: 'message', status, role: 'assistant', content: parts };
  }

  #part(text: string): object {
    if (this.kind === 'reasoning') return { type: 'reasoning_text', text };
    if (this.kind === 'refusal') return { type: 'refusal', refusal: text };
    return { type: 'output_text', text, annotations: [], logprobs: [] };
  }

  #whole(text: string): object {
    if (this.kind === 'function') return { name: this.#names.name, arguments: text };
    if (this.kind === 'custom') return { input: text };
    if (this.kind === 'refusal') return { refusal: text };
    return { text, ...(this.kind === 'text' && { logprobs: [] }) };
  }

  #place(): object {
    return { item_id: this.id, ...(this.#hasParts() && { content_index: 0 }) };
  }

  #hasParts(): boolean {
    return this.kind !== 'function' && this.kind !== 'custom';
  }

  #text(): string {
    if (this.#texts.length > 1) this.#texts.splice(0, this.#texts.length, this.#texts.join(''));
    return this.#texts[0] ?? '';
  }
}
