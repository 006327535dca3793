// Receives the file of an upload before its handler runs, and removes it if the handler did not keep it.
import type { RequestHandler } from 'express';
import { hasUpload } from '../../db/uploads.ts';
import { GatewayError } from '../../domain/errors.ts';
import { uploadKey } from '../../domain/files/uploads.ts';
import { localsOf, requireLocal } from '../http/locals.ts';
import { receiveVideo, type ReceivedFile } from '../uploads/receive.ts';
import { forkEm } from '../../db/database.ts';
import type { Services } from '../services.ts';

/** How long the rest of an unwanted body is read and discarded. */
const LINGER_MS = 2_000;

/**
 * Delays the end of an answer that comes before its request is whole. Closing the connection at once, with
 * bytes still unread, would reset it and lose the answer; reading on without an end would invite senders to
 * keep it open. So the answer is written, the rest of the body is drained for at most LINGER_MS, and then
 * the connection is cut.
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

/**
 * Receives the file, runs `answer`, then removes an unkept file. Runs after authentication. Throws 503
 * `overloaded` when too many bytes are under way.
 */
export function receiveUpload(services: Services, answer: RequestHandler): RequestHandler {
  return async (req, res, next) => {
    const { bytesMax, diskBudget } = services.uploads;
    const caller = requireLocal(res, 'caller');
    const announced = Number(req.headers['content-length'] ?? bytesMax);
    const release = diskBudget.reserve(
      caller.proof === 'none' ? '' : caller.user.id,
      Math.min(announced, bytesMax),
    );
    if (!release) {
      services.metrics.shed('bodies');
      throw new GatewayError('overloaded');
    }
    try {
      const file = await receiveVideo(req, services.storage, bytesMax).catch((error: unknown) => {
        if (res.headersSent) return null; // a sender that went silent has been answered with 408
        throw error;
      });
      if (!file) return;
      localsOf(res).file = file;
      try {
        await answer(req, res, next);
      } finally {
        await discardUnkept(services, file, requireLocal(res, 'requestId'));
      }
    } finally {
      release();
    }
  };
}

/**
 * Deletes the file unless its row exists: the row is looked up, because the answer to its COMMIT may have
 * been lost. If the deletion fails, the sweeper removes the file.
 */
async function discardUnkept(services: Services, file: ReceivedFile, requestId: string): Promise<void> {
  try {
    if (await hasUpload(forkEm(services.database), file.id)) return;
    await services.storage.delete(uploadKey(file));
  } catch (err) {
    services.log.warn({ err, requestId }, 'a file that nobody kept could not be removed yet');
  }
}
