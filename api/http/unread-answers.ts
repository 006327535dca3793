// Tells when a caller takes nothing of its answer any more, although bytes of it wait.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface UnreadAnswerLimits {
  /** Longest time in which bytes of an answer wait and none is taken: until then they stay in memory. */
  answerStallMs: number;
}

/** What was seen of one answer. */
export interface AnswerProgress {
  /** Bytes that the kernel had taken from its connection at the last look. */
  bytesTaken: number;
  /** When it was last seen to move, or to have nothing that waits. */
  movedAt: number;
}

/** Answers whose stream ends by itself when its reader takes nothing. */
const leftToStreams = new WeakSet<ServerResponse>();

/**
 * Leaves an answer that is streamed to the limits of its stream until it ends: a chat stream also tells its
 * reader why it ends, and bills it.
 */
export function leaveToStream(res: ServerResponse): void {
  leftToStreams.add(res);
}

/**
 * Notes what was taken since the last look, and tells whether the caller has taken nothing for too long. Time
 * in which nothing waits to be taken does not count.
 */
export function isUnread(
  progress: AnswerProgress,
  res: ServerResponse,
  { answerStallMs }: UnreadAnswerLimits,
  now: number,
): boolean {
  const bytes = res.socket && countBytes(res.socket); // null also while an earlier answer is sent
  const isWaiting = bytes !== null && bytes.queued > 0 && !isLeftToStream(res);
  if (!isWaiting || bytes.taken !== progress.bytesTaken) {
    progress.bytesTaken = bytes?.taken ?? 0;
    progress.movedAt = now;
  }
  return now - progress.movedAt >= answerStallMs;
}

function isLeftToStream(res: ServerResponse): boolean {
  return !res.writableEnded && leftToStreams.has(res);
}

/**
 * The bytes of all answers on the connection: taken by the kernel, and waiting for it. Null when the
 * connection is gone. Node tells them on its handle alone: the socket counts a piece, which may be a whole
 * answer of 30 MB, as written when it begins, and as waiting until its last byte is taken.
 */
function countBytes(socket: Socket): { taken: number; queued: number } | null {
  const handle: unknown = '_handle' in socket ? socket._handle : null;
  if (typeof handle !== 'object' || handle === null) return null;
  if (!('bytesWritten' in handle && 'writeQueueSize' in handle)) return null;
  const { bytesWritten, writeQueueSize: queued } = handle;
  if (typeof bytesWritten !== 'number' || typeof queued !== 'number') return null;
  return { taken: bytesWritten - queued, queued };
}
