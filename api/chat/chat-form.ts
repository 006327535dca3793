// The form of chat completions, whole and streamed: what the upstream sends is passed on.
import { ERRORS, type GatewayError } from '../../domain/errors.ts';
import { billableTextOf } from '../../providers/chat/usage.ts';
import { readHead, renameModel, type AnswerHead } from './answer-head.ts';
import type { AnswerForm, StreamForm, WholeForm } from './answer-form.ts';
import type { PricedChat } from './request/read-chat.ts';
import { StreamEvents } from './stream-events.ts';
import { presentUsage } from './views.ts';
import { isMembers } from '../responses/members.ts';

const FINISHED = /"finish_reason"\s*:\s*"/;

export function chatForm(chat: PricedChat, requestId: string): AnswerForm {
  return { whole: wholeChat({ model: chat.model.id }), openStream: () => streamForm(chat, requestId) };
}

/** How answers of chat completions are read, also where a response is told of them. */
export const READ_WHOLE: Pick<WholeForm, 'isAnswer' | 'usageOf' | 'billableTextOf'> = {
  isAnswer: ({ choices, error }) =>
    !error && Array.isArray(choices) && choices.length > 0 && choices.every(isMembers),
  usageOf: (json) => json['usage'],
  billableTextOf,
};

/** `model` is the id of the catalogue's model. */
export function wholeChat({ model }: { model: string }): WholeForm {
  return {
    ...READ_WHOLE,
    presentUsage,
    present: (json, usage) => {
      json['model'] = model;
      json['usage'] = usage;
      return json;
    },
    source: { kind: 'chat', model },
  };
}

/** How streams of chat completions are read. */
export function readChatStream(): Pick<
  StreamForm,
  'read' | 'readEnd' | 'billableTextOf' | 'isFinished' | 'requireEnd'
> {
  const events = new StreamEvents();
  return {
    read: (chunk) => events.read(chunk),
    readEnd: () => events.readEnd(),
    billableTextOf,
    isFinished: (text) => FINISHED.test(text),
    requireEnd: () => undefined, // some compatible services end without a word
  };
}

/** The body of an error, as events of streams hold it. */
export function errorOfEvent({ code, message, param }: GatewayError, requestId: string): object {
  return { message, type: ERRORS[code].type, param, code, request_id: requestId };
}

function streamForm({ model, includeUsage }: PricedChat, requestId: string): StreamForm {
  let head: AnswerHead | null = null;
  return {
    ...readChatStream(),
    render: (text) => {
      const renamed = renameModel(text, model.id);
      head ??= readHead(renamed);
      return renamed;
    },
    /** The last event is as OpenAI's: no choices, and the usage of the whole call. */
    end: (usage, charge) => {
      if (!includeUsage) return 'data: [DONE]\n\n';
      head ??= { id: `chatcmpl-${requestId}`, created: Math.trunc(Date.now() / 1000) };
      const event = {
        ...head,
        object: 'chat.completion.chunk',
        model: model.id,
        choices: [],
        usage: presentUsage(usage, charge),
      };
      return `data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`;
    },
    fail: (error) => `data: ${JSON.stringify({ error: errorOfEvent(error, requestId) })}\n\n`,
  };
}
