// Tells a stream of chat completions as the events of a response, in OpenAI's order.
import type { StreamForm } from '../chat/answer-form.ts';
import { readChatStream } from '../chat/chat-form.ts';
import { eachEvent } from '../chat/stream-events.ts';
import { OpenItem, type CallNames, type ItemEvent, type ItemKind } from './open-item.ts';
import { asNumber, asText, listOf, membersOf, type Members } from './members.ts';
import {
  incompleteReasonOf,
  presentUsage,
  writeEvent,
  writeFailure,
  writeResponse,
  type ResponseHead,
} from './response-object.ts';
import type { ResponsesBody } from './responses-body.ts';

interface Place {
  item: OpenItem;
  outputIndex: number;
  /** Its number among the calls of tools; null for others. */
  call: number | null;
  isEnded: boolean;
}

export function translatedStream(request: ResponsesBody, head: ResponseHead, requestId: string): StreamForm {
  const story = new Story(request, head);
  return {
    ...readChatStream(),
    render: (events) => {
      let told = story.begin();
      for (const json of eachEvent(events)) told += story.continue(membersOf(json));
      return told;
    },
    end: (usage, charge) => story.begin() + story.end(presentUsage(usage, charge)),
    fail: (error) => {
      const opening = story.begin();
      const { sequence } = story;
      return opening + writeFailure(error, { head: story.response('failed'), sequence, requestId });
    },
  };
}

class Story {
  readonly #request: ResponsesBody;
  readonly #head: ResponseHead;
  readonly #places: Place[] = [];
  #hasBegun = false;
  #finish: unknown = null;
  /** The number of the last event. */
  sequence = -1;

  constructor(request: ResponsesBody, head: ResponseHead) {
    this.#request = request;
    this.#head = head;
  }

  /** The first events; empty after the first time. */
  begin(): string {
    if (this.#hasBegun) return '';
    this.#hasBegun = true;
    const response = this.response('in_progress');
    return this.#tell('response.created', { response }) + this.#tell('response.in_progress', { response });
  }

  /** The events of one chunk. Only the first answer is told: a response has no others. */
  continue(chunk: Members): string {
    const choice = listOf(chunk['choices'])
      .map(membersOf)
      .find(({ index }) => (asNumber(index) ?? 0) === 0);
    if (!choice) return '';
    const delta = membersOf(choice['delta']);
    this.#finish = choice['finish_reason'] ?? this.#finish;
    const reasoning = asText(delta['reasoning_content'] ?? delta['reasoning']);
    return [
      this.#addText('reasoning', reasoning),
      this.#addText('text', asText(delta['content'])),
      this.#addText('refusal', asText(delta['refusal'])),
      ...listOf(delta['tool_calls']).map((call, at) => this.#addCall(membersOf(call), at)),
    ].join('');
  }

  /** The last events: open items end, then the response does. */
  end(usage: object): string {
    const reason = incompleteReasonOf(this.#finish);
    const status = reason ? 'incomplete' : 'completed';
    const ends = this.#places.map((place) => this.#endItem(place, status)).join('');
    const response = this.response(status, usage);
    return ends + this.#tell(`response.${status}`, { response });
  }

  response(status: 'in_progress' | 'completed' | 'incomplete' | 'failed', usage?: object): object {
    const isEnded = status === 'completed' || status === 'incomplete';
    const output = this.#places.map(({ item }) => item.json(status === 'completed' ? status : 'incomplete'));
    return writeResponse(this.#head, this.#request, {
      status,
      output: status === 'in_progress' ? [] : output,
      ...(usage && { usage }),
      incompleteReason: isEnded ? incompleteReasonOf(this.#finish) : null,
    });
  }

  #addText(kind: ItemKind, text: string): string {
    if (text === '') return '';
    const last = this.#places.at(-1);
    if (last && !last.isEnded && last.item.kind === kind) return this.#tellOf(last, last.item.continue(text));
    const told = this.#endOthers();
    const place = this.#place(new OpenItem(kind), null);
    return told + this.#tellAll(place, place.item.begin()) + this.#tellOf(place, place.item.continue(text));
  }

  /** Calls are told apart by their index; services that send none send each call at once. */
  #addCall(call: Members, at: number): string {
    const { id, index, function: called, custom } = call;
    const { name, arguments: parameters, input } = membersOf(custom ?? called);
    const number = asNumber(index) ?? at;
    const names: CallNames = { callId: asText(id), name: asText(name) };
    const known = this.#places.find((each) => each.call === number && !each.isEnded);
    let told = '';
    let place = known;
    if (!place || (names.callId !== '' && asNumber(index) === null)) {
      told = this.#endOthers();
      place = this.#place(new OpenItem(custom === undefined ? 'function' : 'custom', names), number);
      told += this.#tellAll(place, place.item.begin());
    }
    const text = asText(parameters ?? input);
    return text === '' ? told : told + this.#tellOf(place, place.item.continue(text));
  }

  /** Ends what is whole when another item begins. A call whose arguments go on later stays open. */
  #endOthers(): string {
    return this.#places
      .filter(({ item, isEnded }) => !isEnded && item.isWhole())
      .map((place) => this.#endItem(place, 'completed'))
      .join('');
  }

  #endItem(place: Place, status: 'completed' | 'incomplete'): string {
    if (place.isEnded) return '';
    place.isEnded = true;
    return this.#tellAll(place, place.item.end(status));
  }

  #place(item: OpenItem, call: number | null): Place {
    const place = { item, outputIndex: this.#places.length, call, isEnded: false };
    this.#places.push(place);
    return place;
  }

  #tellAll(place: Place, events: readonly ItemEvent[]): string {
    return events.map((event) => this.#tellOf(place, event)).join('');
  }

  #tellOf({ outputIndex }: Place, [type, fields]: ItemEvent): string {
    return this.#tell(type, { output_index: outputIndex, ...fields });
  }

  #tell(type: string, fields: object): string {
    this.sequence += 1;
    return writeEvent(type, this.sequence, fields);
  }
}
