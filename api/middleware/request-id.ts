// Sets x-request-id on every answer: the caller's own id if it is harmless, else a new one.
import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import { localsOf } from '../http/locals.ts';

const HARMLESS = /^[A-Za-z0-9._-]{1,64}$/;

export const setRequestId: RequestHandler = (req, res, next) => {
  const sent = req.headers['x-request-id'];
  const id = typeof sent === 'string' && HARMLESS.test(sent) ? sent : randomUUID();
  localsOf(res).requestId = id;
  res.setHeader('x-request-id', id);
  next();
};
