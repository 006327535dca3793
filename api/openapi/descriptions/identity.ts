// Descriptions of the routes for logging in, the second factor and step-up verification.
import { z } from 'zod';
import { LOGIN_BODY, SECOND_FACTOR_BODY } from '../../console/login.ts';
import { PASSWORD_BODY } from '../../console/password.ts';
import { SECURITY_EVENT_LIST_QUERY } from '../../console/security-events.ts';
import { SESSION_LIST_QUERY } from '../../console/sessions.ts';
import { CONFIRM_BODY } from '../../console/totp.ts';
import { VERIFY_BODY } from '../../console/verify.ts';
import type { RouteDescription } from '../route-description.ts';
import { SECOND_FACTOR_NEEDED, SESSION, USER, VERIFICATION, VERIFIED } from '../../shapes/account.ts';
import { AUDIT_ENTRY } from '../../shapes/administration.ts';
import { dataOf, pageOf } from '../../shapes/basics.ts';

const session = 'Console: session';
const factor = 'Console: second factor';
const user = dataOf(USER);
const newCookie = { 'set-cookie': 'always' } as const;

export const IDENTITY_DESCRIPTIONS = {
  'POST /api/auth/login': {
    id: 'logIn',
    tag: session,
    summary: 'Log in',
    description:
      'With a second factor, the password alone gives no session: continue with POST /api/auth/login/2fa.',
    body: {
      schema: LOGIN_BODY,
      examples: { 'A user': { email: 'you@example.com', password: 'correct horse battery' } },
    },
    responses: {
      200: {
        description: 'The user and the session cookie, or what is still needed.',
        shape: dataOf(z.union([USER, SECOND_FACTOR_NEEDED])),
        headers: { 'set-cookie': 'sometimes' },
      },
    },
    refusals: ['invalid_credentials', 'account_disabled'],
  },
  'POST /api/auth/login/2fa': {
    id: 'finishLogin',
    tag: session,
    summary: 'Finish a login with the second factor',
    body: {
      schema: SECOND_FACTOR_BODY,
      examples: { 'A code': { flowToken: 'the flowToken of the login', code: '123456' } },
    },
    responses: { 200: { description: 'The user and the session cookie.', shape: user, headers: newCookie } },
    refusals: ['invalid_credentials', 'account_disabled'],
  },
  'POST /api/auth/logout': {
    id: 'logOut',
    tag: session,
    summary: 'Log out',
    responses: { 204: { description: 'The session is over.', headers: newCookie } },
  },
  'GET /api/auth/me': {
    id: 'readMe',
    tag: session,
    summary: 'Who is logged in',
    responses: { 200: { description: 'The user, with permissions.', shape: user } },
  },
  'GET /api/auth/sessions': {
    id: 'listSessions',
    tag: session,
    summary: 'List your sessions',
    query: SESSION_LIST_QUERY,
    responses: { 200: { description: 'A page of those that live.', shape: pageOf(SESSION) } },
  },
  'DELETE /api/auth/sessions': {
    id: 'endOtherSessions',
    tag: session,
    summary: 'End all your other sessions',
    responses: {
      200: {
        description: 'They have ended.',
        shape: dataOf(z.strictObject({ sessionsEnded: z.int().min(0) })),
      },
    },
  },
  'DELETE /api/auth/sessions/:id': {
    id: 'endSession',
    tag: session,
    summary: 'End one of your sessions',
    description: 'Ending the session that asks is a logout.',
    responses: { 204: { description: 'It has ended.', headers: { 'set-cookie': 'sometimes' } } },
    refusals: ['not_found'],
  },
  'GET /api/security-events': {
    id: 'listSecurityEvents',
    tag: session,
    summary: 'What happened to the security of your account',
    description:
      'Logins (`LOG_IN`, with `isKnownAddress` in `detail`), API keys made, widened, narrowed and revoked, second factors, recovery codes, passwords, sessions that were ended, and locked verifications. `actor` is you, or null when an administrator did it.',
    query: SECURITY_EVENT_LIST_QUERY,
    responses: { 200: { description: 'A page of them.', shape: pageOf(AUDIT_ENTRY) } },
  },
  'POST /api/auth/password': {
    id: 'changePassword',
    tag: session,
    summary: 'Change the password',
    description: 'Ends all other sessions; this one gets a new cookie.',
    body: {
      schema: PASSWORD_BODY,
      examples: {
        'A new one': {
          currentPassword: 'correct horse battery',
          newPassword: 'a long sentence that nobody guesses',
        },
      },
    },
    responses: { 200: { description: 'The user.', shape: user, headers: newCookie } },
    refusals: ['invalid_credentials'],
  },
  'GET /api/verify': {
    id: 'readVerification',
    tag: factor,
    summary: 'Whether this session has a fresh proof of identity',
    responses: { 200: { description: 'The state.', shape: dataOf(VERIFICATION) } },
  },
  'POST /api/verify': {
    id: 'verify',
    tag: factor,
    summary: 'Prove again who you are',
    description:
      'Good for ten minutes and this session, which gets a new cookie. Whoever has a second factor must use it.',
    body: {
      schema: VERIFY_BODY,
      examples: {
        'With the password': { method: 'password', code: 'correct horse battery' },
        'With the authenticator app': { method: 'totp', code: '123456' },
      },
    },
    responses: { 200: { description: 'Verified.', shape: dataOf(VERIFIED), headers: newCookie } },
    refusals: ['verification_failed', 'verification_locked'],
  },
  'POST /api/auth/totp': {
    id: 'enrolTotp',
    tag: factor,
    summary: 'Begin to set up an authenticator app',
    responses: {
      201: {
        description: 'The secret for the app. Not in force until it is confirmed.',
        shape: dataOf(z.strictObject({ secret: z.string(), otpauthUrl: z.string() })),
      },
    },
    refusals: ['totp_already_enabled'],
  },
  'POST /api/auth/totp/confirm': {
    id: 'confirmTotp',
    tag: factor,
    summary: 'Confirm the authenticator app with a first code',
    body: { schema: CONFIRM_BODY, examples: { 'A code': { code: '123456' } } },
    responses: {
      200: {
        description:
          'The second factor is on, and all other sessions have ended. The recovery codes are shown here and never again.',
        shape: dataOf(z.strictObject({ recoveryCodes: z.array(z.string()) })),
      },
    },
    refusals: ['verification_failed', 'not_found', 'totp_already_enabled'],
  },
  'DELETE /api/auth/totp': {
    id: 'disableTotp',
    tag: factor,
    summary: 'Remove the second factor',
    description: 'Ends all other sessions.',
    responses: { 204: { description: 'There is none.' } },
  },
} as const satisfies Readonly<Record<string, RouteDescription>>;
