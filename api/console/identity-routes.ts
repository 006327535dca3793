// The routes of /api about who is there: login, session, password, second factor, step-up.
import { BODY_BYTES_MAX, type Route } from '../context.ts';
import { finishLogin, logIn } from './login.ts';
import { renewPassword } from './password.ts';
import { logOut, readMe } from './session.ts';
import { confirmEnrolment, disableTotp, enrolTotp } from './totp.ts';
import { readVerification, verify } from './verify.ts';

const guess = { limit: 'auth', bodyBytesMax: BODY_BYTES_MAX } as const;
const anybody = { proof: 'none', ...guess } as const;
const session = { proof: 'session', limit: 'read' } as const;
const sessionGuess = { proof: 'session', ...guess } as const;

export const IDENTITY_ROUTES = [
  { method: 'POST', path: '/api/auth/login', ...anybody, guess: 'login', handle: logIn },
  { method: 'POST', path: '/api/auth/login/2fa', ...anybody, guess: 'second-factor', handle: finishLogin },
  { method: 'POST', path: '/api/auth/logout', ...session, handle: logOut },
  { method: 'GET', path: '/api/auth/me', ...session, handle: readMe },
  { method: 'POST', path: '/api/auth/password', ...sessionGuess, guess: 'password', handle: renewPassword },
  { method: 'POST', path: '/api/auth/totp', ...session, stepUp: true, handle: enrolTotp },
  {
    method: 'POST',
    path: '/api/auth/totp/confirm',
    ...sessionGuess,
    guess: 'totp-confirm',
    handle: confirmEnrolment,
  },
  { method: 'DELETE', path: '/api/auth/totp', ...session, stepUp: true, handle: disableTotp },
  { method: 'GET', path: '/api/verify', ...session, handle: readVerification },
  { method: 'POST', path: '/api/verify', ...sessionGuess, guess: 'verify', handle: verify },
] as const satisfies readonly Route[];
