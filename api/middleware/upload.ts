// Around the handlers that take a file: it is received before them, and removed again if they did not keep it.
import type { RequestHandler } from 'express';
import { hasUpload } from '../../db/uploads.ts';
import { GatewayError } from '../../domain/errors.ts';
import { uploadKey } from '../../domain/files/uploads.ts';
import type { Caller } from '../context.ts';
import { receiveVideo, type ReceivedFile } from '../uploads/receive.ts';
import { requestIdOf } from './request-id.ts';
import { forkEm } from '../../db/database.ts';
import type { Services } from '../services.ts';

/** For so long the rest of a body nobody wants is read and thrown away. */
const LINGER_MS = 2_000;

/**
 * An answer may come before its request is whole. A line that is cut at once takes the answer back with it, and reading
 * on for ever would be a gift. So the answer is written and not yet ended: the rest may come for a moment, and then the
 * line is cut.
 */
export const closeUnreadUpload: RequestHandler = (req, res, next) => {
  const end: () => unknown = res.end.bind(res);
  const endLater = (body?: string | Uint8Array): typeof res => {
    if (body !== undefined) res.write(body);
    else res.flushHeaders();
    const finish = (): void => {
      clearTimeout(timer);
      req.off('end', finish).off('close', finish);
      end();
      if (!req.complete) req.socket.destroy();
    };
    const timer = setTimeout(finish, LINGER_MS);
    req.once('end', finish).once('close', finish).resume();
    return res;
  };
  res.end = new Proxy(res.end, {
    apply: (usual, self, given: [body?: string | Uint8Array]) =>
      req.complete || req.destroyed ? Reflect.apply(usual, self, given) : endLater(given[0]),
  });
  next();
};

/** Needs the caller in `res.locals`, and puts the file there. 503 overloaded when too much is under way. */
export function receiveUpload(services: Services, answer: RequestHandler): RequestHandler {
  return async (req, res, next) => {
    const { bytesMax, room } = services.uploads;
    const caller: Caller = res.locals['caller'];
    const announced = Number(req.headers['content-length'] ?? bytesMax);
    const giveBack = room.take(caller.proof === 'none' ? '' : caller.user.id, Math.min(announced, bytesMax));
    if (!giveBack) {
      services.metrics.shed('bodies');
      throw new GatewayError('overloaded');
    }
    try {
      const file = await receiveVideo(req, services.storage, bytesMax).catch((error: unknown) => {
        if (res.headersSent) return null; // whoever fell silent has had an answer
        throw error;
      });
      if (!file) return;
      res.locals['file'] = file;
      try {
        await answer(req, res, next);
      } finally {
        await discardUnkept(services, file, requestIdOf(res));
      }
    } finally {
      giveBack();
    }
  };
}

/** Asks for the row, because the answer to its COMMIT may have been lost. What cannot be told now the sweeper finds. */
async function discardUnkept(services: Services, file: ReceivedFile, requestId: string): Promise<void> {
  try {
    if (await hasUpload(forkEm(services.database), file.id)) return;
    await services.storage.delete(uploadKey(file));
  } catch (err) {
    services.log.warn({ err, requestId }, 'a file that nobody kept could not be removed yet');
  }
}
