// What every answer tells a browser: take it for what it says it is, run nothing in it, tell nobody where you were.
import type { RequestHandler } from 'express';

/** Answers that are a page or a file say what they need themselves. */
const NOTHING = "default-src 'none'; frame-ancestors 'none'";

export const setSecurityHeaders: RequestHandler = (_req, res, next) => {
  res.setHeader('x-content-type-options', 'nosniff');
  res.setHeader('referrer-policy', 'no-referrer');
  res.setHeader('content-security-policy', NOTHING);
  next();
};
