// Writes log line, metrics and trace of a request when its answer has ended or its caller has disconnected.
import type { Request, RequestHandler, Response } from 'express';
import { isId } from '../../db/ids.ts';
import { maskText } from '../../domain/masking/masking.ts';
import { errorCodeOf } from '../http/error-body.ts';
import type { RequestTrace } from '../context.ts';
import { whenClosed } from '../http/at-close.ts';
import { localsOf, requireLocal } from '../http/locals.ts';
import type { RequestSpan, TraceAttributes } from '../../runtime/tracing-types.ts';
import type { Services } from '../services.ts';

/** The form of `randomUUID`. */
const OWN_FORM = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Records each request. Contains nothing that a caller wrote: no URL, no query, no header, no body. */
export function recordRequests({ log, metrics, tracing }: Services): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now();
    const bytesBefore = req.socket.bytesWritten;
    const trace: RequestTrace = { taskId: null, chat: null };
    localsOf(res).trace = trace;
    const span = tracing?.startRequest(req.headers['traceparent']);
    metrics.started();
    whenClosed(res, () => {
      const route = readRoute(req, res);
      const code = errorCodeOf(res);
      const durationMs = performance.now() - startedAt;
      const { statusCode: status } = res;
      metrics.ended({
        route: route ?? 'unmatched',
        method: req.method,
        status,
        code: code ?? '',
        seconds: durationMs / 1000,
      });
      const isLogged = log.isLevelEnabled('info');
      if (!isLogged && !span) return;
      const facts = {
        requestId: maskRequestId(requireLocal(res, 'requestId')),
        method: req.method,
        route,
        status,
        code,
        taskId: trace.taskId ?? readTaskId(req),
        ...readCaller(res),
      };
      if (isLogged)
        log.info(
          {
            ...facts,
            durationMs: Math.round(durationMs * 10) / 10,
            requestBytes: readLength(req),
            answerBytes: req.socket.bytesWritten - bytesBefore,
            ip: req.ip ?? null,
            // The caller disconnected before the answer was whole, or was cut off.
            ...(res.writableFinished ? {} : { aborted: true }),
          },
          'request',
        );
      if (span) endSpan(span, facts, describeChat(trace));
    });
    if (span) span.run(next);
    else next();
  };
}

/**
 * The pattern of the matched route, also when the request was refused on the way; null when no route matched.
 */
function readRoute(req: Request, res: Response): string | null {
  const path: unknown = localsOf(res).route ?? req.route?.path;
  return typeof path === 'string' ? path : null;
}

/** Masks an id that the caller chose; most have the form of our own, in which no secret fits. */
function maskRequestId(id: string): string {
  return OWN_FORM.test(id) ? id : maskText(id);
}

/** The task id in the path; null when the parameter is no id of a task but free text. */
function readTaskId({ params }: Request): string | null {
  const named = [params['taskId'], params['id']].find((id) => typeof id === 'string' && isId('task', id));
  return typeof named === 'string' ? named : null;
}

function readCaller(res: Response): { userId: string | null; keyId: string | null } {
  const { caller } = localsOf(res);
  if (!caller || caller.proof === 'none') return { userId: null, keyId: null };
  return { userId: caller.user.id, keyId: caller.proof === 'key' ? caller.key.id : null };
}

function readLength(req: Request): number | null {
  const announced = Number(req.headers['content-length'] ?? Number.NaN);
  return Number.isSafeInteger(announced) ? announced : null;
}

/** A chat call in OpenTelemetry's words for generative AI, without content; nothing for other requests. */
function describeChat({ chat }: RequestTrace): TraceAttributes {
  if (chat === null) return {};
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': chat.model,
    'gen_ai.usage.input_tokens': chat.promptTokens,
    'gen_ai.usage.output_tokens': chat.completionTokens,
    ...(chat.family === null ? {} : { 'gen_ai.provider.name': chat.family }),
  };
}

function endSpan(
  span: RequestSpan,
  facts: { requestId: string; method: string; route: string | null; status: number } & {
    code: string | null;
    taskId: string | null;
    userId: string | null;
    keyId: string | null;
  },
  chat: TraceAttributes,
): void {
  span.end({
    name: `${facts.method} ${facts.route ?? 'unmatched'}`,
    isError: facts.status >= 500,
    attributes: {
      'http.request.method': facts.method,
      'http.response.status_code': facts.status,
      'svc.request_id': facts.requestId,
      ...(facts.route === null ? {} : { 'http.route': facts.route }),
      ...(facts.code === null ? {} : { 'error.type': facts.code }),
      ...(facts.taskId === null ? {} : { 'svc.task_id': facts.taskId }),
      ...(facts.userId === null ? {} : { 'svc.user_id': facts.userId }),
      ...(facts.keyId === null ? {} : { 'svc.key_id': facts.keyId }),
      ...chat,
    },
  });
}
