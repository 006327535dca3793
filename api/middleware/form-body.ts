// Reads a body that may be JSON or a multipart form, as OpenAI's clients send what holds pictures.
import { setImmediate } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { GatewayError } from '../../domain/errors.ts';
import { isForm, parseForm } from '../http/form-fields.ts';
import { localsOf, requireLocal } from '../http/locals.ts';
import { LONG_BODY_BYTES, workInTurn } from '../http/long-work.ts';
import { encodingOf, receiveBody, tooLarge, type BodyLimits } from '../http/receive-body.ts';
import type { Services } from '../services.ts';
import { bodyMemory, isJson, readJsonBody, rejectUnsound } from './json-body.ts';
import { receiveInTurn } from './turns.ts';

/**
 * Middleware as `readJsonBody`, which reads everything but forms. The files of a form are held in memory, and
 * as the data URIs that they become, so its bytes count twice in the budget of bodies.
 */
export function readFormOrJsonBody(services: Services, limits: BodyLimits): RequestHandler {
  const readJson = readJsonBody(services, limits);
  return async (req, res, next) => {
    if (isJson(req)) {
      await readJson(req, res, next);
      return;
    }
    if (!isForm(req.headers)) {
      const message = 'Send the body as multipart/form-data, or as application/json in UTF-8.';
      throw new GatewayError('unsupported_media_type', { message });
    }
    if (encodingOf(req) !== 'identity') {
      const message = 'Send the form uncompressed.';
      throw new GatewayError('unsupported_media_type', { message });
    }
    const announced = Number(req.headers['content-length'] ?? 0);
    if (announced > limits.bytesMax) throw tooLarge(limits.bytesMax);
    const bytes = await receiveInTurn(services, res, async (takeTurnFor) => {
      await takeTurnFor(announced);
      const reserve = bodyMemory(services, req, res);
      if (announced > 0) reserve(2 * announced);
      return receiveBody(req, limits, (chunk, received) => {
        if (announced === 0) reserve(2 * chunk.length);
        return takeTurnFor(received);
      });
    });
    const parse = async (): Promise<object> => {
      const body = await parseForm(req.headers, bytes);
      await setImmediate();
      rejectUnsound(body);
      return body;
    };
    const isLong = bytes.length > LONG_BODY_BYTES;
    req.body = await (isLong ? workInTurn(services, requireLocal(res, 'subject'), parse) : parse());
    localsOf(res).bodyBytes = bytes.length;
    next();
  };
}
