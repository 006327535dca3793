// The form of an answer of an upstream that knows chat completions only: told as a response.
import { randomUUID } from 'node:crypto';
import type { AnswerForm, WholeForm } from '../chat/answer-form.ts';
import { READ_WHOLE } from '../chat/chat-form.ts';
import type { PricedChat } from '../chat/request/read-chat.ts';
import { asText, listOf, membersOf, type Members } from './members.ts';
import { incompleteReasonOf, presentUsage, writeResponse, type ResponseHead } from './response-object.ts';
import type { ResponsesBody } from './responses-body.ts';
import { OpenItem } from './open-item.ts';
import { translatedStream } from './translated-stream.ts';

export function translatedForm(chat: PricedChat, request: ResponsesBody, requestId: string): AnswerForm {
  return {
    whole: wholeTranslated({ model: chat.model.id, request }),
    openStream: () => translatedStream(request, newHead(chat.model.id), requestId),
  };
}

export function wholeTranslated(source: { model: string; request: ResponsesBody }): WholeForm {
  const { model, request } = source;
  return {
    ...READ_WHOLE,
    presentUsage,
    present: (json, usage) => {
      const [choice] = listOf(json['choices']);
      const incompleteReason = incompleteReasonOf(membersOf(choice)['finish_reason']);
      return writeResponse(newHead(model), request, {
        status: incompleteReason ? 'incomplete' : 'completed',
        incompleteReason,
        output: itemsOf(membersOf(membersOf(choice)['message']), incompleteReason !== null),
        usage,
      });
    },
    source: { kind: 'translated', model, request },
  };
}

function newHead(model: string): ResponseHead {
  const id = `resp_${randomUUID().replaceAll('-', '')}`;
  return { id, createdAt: Math.trunc(Date.now() / 1000), model };
}

/** The items of a message: its reasoning, what it says, the tools that it calls. */
function itemsOf(message: Members, isIncomplete: boolean): object[] {
  const items: OpenItem[] = [];
  const add = (item: OpenItem, text: string): void => {
    item.add(text);
    items.push(item);
  };
  const reasoning = asText(message['reasoning_content'] ?? message['reasoning']);
  if (reasoning) add(new OpenItem('reasoning'), reasoning);
  const content = textIn(message['content']);
  if (content !== '') add(new OpenItem('text'), content);
  const refusal = asText(message['refusal']);
  if (refusal) add(new OpenItem('refusal'), refusal);
  for (const call of listOf(message['tool_calls'])) {
    const { id, function: called, custom } = membersOf(call);
    const { name, arguments: parameters, input } = membersOf(custom ?? called);
    const names = { callId: asText(id), name: asText(name) };
    add(new OpenItem(custom === undefined ? 'function' : 'custom', names), asText(parameters ?? input));
  }
  return items.map((item) => item.json(isIncomplete ? 'incomplete' : 'completed'));
}

/** Content is a text, or with some services a list of parts. */
function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => asText(membersOf(part)['text']))
    .join('');
}
