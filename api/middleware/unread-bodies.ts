// Bounds what is still read of a body whose request was answered before it had come, as most refusals are.
import { Socket } from 'node:net';
import type { Request, RequestHandler } from 'express';
import { Tally } from '../../domain/tally.ts';
import { discardBody } from '../http/receive-body.ts';
import { localsOf } from '../http/locals.ts';

/** Bodies of one subject that are read and discarded at once; what more of them send is not read. */
export const DISCARDED_BODIES_MAX = 8;
/** Time for a sender to send the rest, or to read the answer; then the connection is closed. */
const DISCARD_MS = 5_000;
const UNREAD_MS = 2_000;

/**
 * Watches what comes after an answer. Node reads on to the end of the body, however many do so: thousands of
 * refused megabytes kept the process from its work. Where the connection ends with the answer, Node closes it
 * at once: with bytes still unread that resets it, and loses the answer for senders that do not read while
 * they write. So our side alone is ended, until the body has come or its time is over.
 */
export function boundUnreadBodies(): RequestHandler {
  const discarding = new Tally();
  const discard = (req: Request, subject: string): void => {
    discarding.add(subject, 1);
    const leave = closeLater(req, DISCARD_MS);
    const end = (): void => {
      req.off('end', end).off('close', end);
      leave();
      closeAsUsual(req);
      discarding.add(subject, -1);
    };
    req.once('end', end).once('close', end);
  };
  const endUnread = (req: Request, subject: string): void => {
    if (req.socket.destroyed) return;
    if (req.complete) closeAsUsual(req);
    else if (discarding.of(subject) < DISCARDED_BODIES_MAX) discard(req, subject);
    else leaveUnread(req);
  };
  return (req, res, next) => {
    res.once('prefinish', () => {
      if (!req.complete || req.readableLength > 0) discardUnread(req);
      if (req.complete) return;
      endOurSideOnly(req);
      res.once('finish', () => endUnread(req, localsOf(res).subject ?? ''));
    });
    next();
  };
}

/** Node would discard it, too, but leaves its memory to the next collection of garbage. */
function discardUnread(req: Request): void {
  const isRead = req.listenerCount('data') > 0; // its reader discards what it leaves
  if (!isRead) discardBody(req);
}

/** Makes Node's call after a last answer, `destroySoon`, leave the connection open for what is still sent. */
function endOurSideOnly({ socket }: Request): void {
  socket.destroySoon = () => void socket.end();
}

/** Undoes `endOurSideOnly`, and closes the connection if its last answer was sent. */
function closeAsUsual({ socket }: Request): void {
  socket.destroySoon = Socket.prototype.destroySoon;
  if (socket.writableEnded) socket.destroySoon();
}

/** Stops reading once Node has begun to, which it does with the answer. */
function leaveUnread(req: Request): void {
  setImmediate(() => req.socket.pause());
  closeLater(req, UNREAD_MS);
}

/** Closes the connection of this request in some time; the function returned keeps it open. */
function closeLater({ socket }: Request, ms: number): () => void {
  const close = (): void => {
    socket.destroy();
  };
  const timer = setTimeout(close, ms).unref();
  return () => clearTimeout(timer);
}
