// Reads the session cookie from requests, and writes it into answers.
const NAME = 'svc_session';

/**
 * Reads the token from a Cookie header. Null without one, and when there are several: one of them may be
 * injected.
 */
export function readSessionToken(cookies: string | undefined): string | null {
  if (cookies === undefined) return null;
  const tokens = cookies
    .split(';')
    .map((cookie) => cookie.trim().split('='))
    .filter(([name]) => name === NAME)
    .map(([, value]) => value ?? '');
  const [token] = tokens;
  return token && tokens.length === 1 ? token : null;
}

/** Headers that set the session cookie. */
export function setSessionCookie(token: string, production: boolean): Record<string, string> {
  return { 'set-cookie': writeCookie(token, production) };
}

/** Headers that delete the session cookie. */
export function clearSessionCookie(production: boolean): Record<string, string> {
  return { 'set-cookie': `${writeCookie('', production)}; Max-Age=0` };
}

function writeCookie(token: string, secure: boolean): string {
  return `${NAME}=${token}; HttpOnly; SameSite=Lax; Path=/${secure ? '; Secure' : ''}`;
}
