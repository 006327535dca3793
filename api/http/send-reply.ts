// Sends a handler's reply: status, headers, then a JSON body, a text, a file, a stream or nothing.
import type { Response } from 'express';
import type { Reply } from '../context.ts';
import type { Services } from '../services.ts';
import { sendFile } from './send-file.ts';

/** Sends the reply. Resolves when the body is handed to the socket; for a stream, when its last byte is. */
export async function sendReply(
  { storage }: Pick<Services, 'storage'>,
  res: Response,
  reply: Reply,
): Promise<void> {
  if (res.destroyed && !reply.stream) return; // the caller has left
  res.setHeader('cache-control', 'no-store');
  for (const [name, value] of Object.entries(reply.headers ?? {})) res.setHeader(name, value);
  if (reply.file) return sendFile(storage, res.req, res, reply.file);
  res.status(reply.status);
  if (reply.stream) {
    res.flushHeaders();
    const streamed = await reply.stream(res);
    if (!res.writableEnded) res.end(streamed?.end);
  } else if (typeof reply.body === 'string') res.end(reply.body);
  else if (reply.body === undefined) res.end();
  else sendJson(res, reply.body);
}

/**
 * Sends JSON. Not `res.json`, which would answer a conditional request with 304: no answer may come from a
 * cache. It also takes longer, which counts where thousands are refused at once.
 */
export function sendJson(res: Response, body: unknown): void {
  const text = JSON.stringify(body);
  res.setHeader('content-type', 'application/json; charset=utf-8');
  res.setHeader('content-length', Buffer.byteLength(text));
  res.end(text); // a text leaves with the headers in one write, a Buffer in two
}
