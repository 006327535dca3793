// Receives the file of an upload before its handler runs, and removes it if the handler did not keep it.
import type { RequestHandler } from 'express';
import { hasUpload } from '../../db/uploads.ts';
import { GatewayError } from '../../domain/errors.ts';
import { uploadKey } from '../../domain/files/uploads.ts';
import { localsOf, requireLocal } from '../http/locals.ts';
import { receiveVideo, type ReceivedFile } from '../uploads/receive.ts';
import { forkEm } from '../../db/database.ts';
import type { Services } from '../services.ts';

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
