// Asks the routes by which a user keeps an account safe: second factor, password, ends of sessions.
import { setTimeout as sleep } from 'node:timers/promises';
import { Secret, TOTP } from 'otpauth';
import { cookieOf, type Call, type Callers } from './callers.ts';

export interface Login {
  email: string;
  password: string;
}

/** Time in which the codes are used. */
const CODES_MS = 15_000;
const NEXT_PASSWORD = 'another long sentence for rehearsals';

/** A second factor, a new password, and the ends of sessions. Returns the session that is left. */
export async function secureAccount(callers: Callers, session: Call, user: Login): Promise<Call> {
  const { body: enrolled } = await session('POST', '/api/auth/totp');
  const totp = new TOTP({ secret: Secret.fromBase32(String(enrolled.data.secret)) });
  // A code counts once, and those of the periods beside the present one are taken: three within one period.
  const [earlier, now, later] = await codesOf(totp);
  await session('POST', '/api/auth/totp/confirm', { body: { code: earlier } });
  const { body: begun } = await callers.anonymous('POST', '/api/auth/login', { body: user });
  const factor = { flowToken: begun.data.flowToken, code: now };
  const { headers } = await callers.anonymous('POST', '/api/auth/login/2fa', { body: factor });
  cookieOf(headers);
  const { body: sessions } = await session('GET', '/api/auth/sessions');
  const elsewhere = sessions.data.find((each: { current: boolean }) => !each.current);
  await session('DELETE', `/api/auth/sessions/${elsewhere.id}`);
  await session('DELETE', '/api/auth/sessions');
  await session('POST', '/api/verify', { body: { method: 'totp', code: later } });
  await session('DELETE', '/api/auth/totp');
  const change = { currentPassword: user.password, newPassword: NEXT_PASSWORD };
  await session('POST', '/api/auth/password', { body: change });
  const last = await callers.logIn(user.email, NEXT_PASSWORD);
  await last('POST', '/api/auth/logout');
  return callers.logIn(user.email, NEXT_PASSWORD);
}

/** The codes of the periods before, at and after this moment, of which enough is left. */
async function codesOf(totp: TOTP): Promise<[string, string, string]> {
  const periodMs = totp.period * 1000;
  const leftMs = periodMs - (Date.now() % periodMs);
  if (leftMs < CODES_MS) await sleep(leftMs);
  const at = (periods: number): string => totp.generate({ timestamp: Date.now() + periods * periodMs });
  return [at(-1), at(0), at(1)];
}
