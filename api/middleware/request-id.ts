// Every answer carries x-request-id: the caller's own if it is harmless, else one of ours.
import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';

const HARMLESS = /^[A-Za-z0-9._-]{1,64}$/;

export const setRequestId: RequestHandler = (req: Request, res: Response, next) => {
  const wished = req.headers['x-request-id'];
  const id = typeof wished === 'string' && HARMLESS.test(wished) ? wished : randomUUID();
  res.locals['requestId'] = id;
  res.setHeader('x-request-id', id);
  next();
};

export function requestIdOf(res: Response): string {
  return String(res.locals['requestId']);
}
