// The route table of identity under /api: login, session, password, second factor, step-up verification.
import { BODY_BYTES_MAX, type Route } from '../context.ts';
import { finishLogin, logIn } from './login.ts';
import { changeOwnPassword } from './password.ts';
import { listOwnSecurityEvents } from './security-events.ts';
import { logOut, readMe } from './session.ts';
import { endSession, endSessionsElsewhere, listSessions } from './sessions.ts';
import { confirmEnrolment, disableTotp, enrolTotp } from './totp.ts';
import { readVerification, verify } from './verify.ts';

const guessed = { limit: 'auth', bodyBytesMax: BODY_BYTES_MAX } as const;
const anonymous = { proof: 'none', ...guessed } as const;
const session = { proof: 'session', limit: 'read' } as const;
const sessionGuessed = { proof: 'session', ...guessed } as const;

export const IDENTITY_ROUTES = [
  { method: 'POST', path: '/api/auth/login', ...anonymous, guess: { limit: 'login' }, handle: logIn },
  {
    method: 'POST',
    path: '/api/auth/login/2fa',
    ...anonymous,
    guess: { limit: 'second-factor' },
    handle: finishLogin,
  },
  { method: 'POST', path: '/api/auth/logout', ...session, handle: logOut },
  { method: 'GET', path: '/api/auth/me', ...session, handle: readMe },
  { method: 'GET', path: '/api/auth/sessions', ...session, heavy: true, handle: listSessions },
  { method: 'DELETE', path: '/api/auth/sessions', ...session, handle: endSessionsElsewhere },
  { method: 'DELETE', path: '/api/auth/sessions/:id', ...session, handle: endSession },
  { method: 'GET', path: '/api/security-events', ...session, heavy: true, handle: listOwnSecurityEvents },
  {
    method: 'POST',
    path: '/api/auth/password',
    ...sessionGuessed,
    guess: { limit: 'password' },
    handle: changeOwnPassword,
  },
  { method: 'POST', path: '/api/auth/totp', ...session, stepUp: true, handle: enrolTotp },
  {
    method: 'POST',
    path: '/api/auth/totp/confirm',
    ...sessionGuessed,
    guess: { limit: 'totp-confirm' },
    handle: confirmEnrolment,
  },
  { method: 'DELETE', path: '/api/auth/totp', ...session, stepUp: true, handle: disableTotp },
  { method: 'GET', path: '/api/verify', ...session, handle: readVerification },
  { method: 'POST', path: '/api/verify', ...sessionGuessed, guess: { limit: 'verify' }, handle: verify },
] as const satisfies readonly Route[];
