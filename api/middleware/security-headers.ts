// Sets the security headers of every answer: no type sniffing, no scripts or frames, no referrer.
import type { RequestHandler } from 'express';

/** The policy of answers that load nothing; pages and files set a policy of their own. */
const NOTHING = "default-src 'none'; frame-ancestors 'none'";

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': NOTHING,
};

const ENTRIES = Object.entries(SECURITY_HEADERS);

export const setSecurityHeaders: RequestHandler = (_req, res, next) => {
  for (const [name, value] of ENTRIES) res.setHeader(name, value);
  next();
};
