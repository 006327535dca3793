// Sets the security headers of every answer: no type sniffing, no scripts or frames, no referrer, TLS only.
import type { RequestHandler } from 'express';
import type { Services } from '../services.ts';

/** The policy of answers that load nothing; pages and files set a policy of their own. */
const NOTHING = "default-src 'none'; frame-ancestors 'none'";
/** A year, the least that ASVS 5.0 asks for (3.4.1); level 2 asks for the subdomains, too. */
const TLS_ONLY = 'max-age=31536000; includeSubDomains';

/** The headers of every answer, wherever the gateway runs. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': NOTHING,
};

const ENTRIES = Object.entries(SECURITY_HEADERS);

type Installation = Pick<Services, 'production' | 'publicUrl'>;

/** The security headers of an answer, as `setSecurityHeaders` sets them. */
export function securityHeaders(installation: Installation): Readonly<Record<string, string>> {
  return isTlsOnly(installation)
    ? { ...SECURITY_HEADERS, 'strict-transport-security': TLS_ONLY }
    : SECURITY_HEADERS;
}

export function setSecurityHeaders(installation: Installation): RequestHandler {
  return (_req, res, next) => {
    for (const [name, value] of ENTRIES) res.setHeader(name, value);
    if (isTlsOnly(installation)) res.setHeader('strict-transport-security', TLS_ONLY);
    next();
  };
}

/** Browsers are told to come over TLS only where callers do so: in production, behind an https address. */
function isTlsOnly({ production, publicUrl }: Installation): boolean {
  return production && publicUrl().startsWith('https:');
}
