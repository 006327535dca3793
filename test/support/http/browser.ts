// A console user's browser, which keeps its newest cookie, and the user's authenticator app.
import { expect } from 'chai';
import { sql } from '@mikro-orm/postgresql';
import { Secret, TOTP } from 'otpauth';
import { createGuessLimiter } from '../../../api/limits/guess-limiter.ts';
import { openLimits } from '../../../api/open-services.ts';
import { createSession } from '../../../db/identity/sessions.ts';
import type { TestGateway, TestUser } from '../servers/gateway.ts';
import { createActor, type Actor, type Answer } from './http.ts';
import { quotaOf } from './limits.ts';

export interface Browser extends Actor {
  token(): string;
}

/** A browser with a fresh session of this user; without a user, one that has no session yet. */
export async function openBrowser(gateway: TestGateway, user?: TestUser): Promise<Browser> {
  return openBrowserWith(gateway, user ? await createSession(gateway.em(), gateway.secrets, user.id) : '');
}

/** A browser whose session cookie holds this token. */
export function openBrowserWith(gateway: TestGateway, first: string): Browser {
  let token = first;
  const keep = (answer: Answer): Answer => {
    const given = tokenOf(answer);
    if (given !== null) token = given;
    return answer;
  };
  const identity = (): Record<string, string> => (token === '' ? {} : { cookie: `svc_session=${token}` });
  const actor = createActor(() => gateway.baseUrl, identity);
  return {
    get: async (...request) => keep(await actor.get(...request)),
    post: async (...request) => keep(await actor.post(...request)),
    patch: async (...request) => keep(await actor.patch(...request)),
    delete: async (...request) => keep(await actor.delete(...request)),
    send: async (...request) => keep(await actor.send(...request)),
    token: () => token,
  };
}

/** The session token in an answer's Set-Cookie; null without one. */
export function tokenOf({ headers }: Answer): string | null {
  return /^svc_session=([^;]*)/.exec(headers.get('set-cookie') ?? '')?.[1] ?? null;
}

export async function isAlive(gateway: TestGateway, token: string): Promise<boolean> {
  const { status } = await openBrowserWith(gateway, token).get('/api/auth/me');
  return status === 200;
}

export interface AuthenticatorApp {
  /** The current code, or the one this many steps of 30 seconds later. */
  code(steps?: number): string;
  /** Six digits that are not valid at the moment. */
  wrongCode(): string;
}

export function openApp(secret: string): AuthenticatorApp {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  const code = (steps = 0): string => totp.generate({ timestamp: Date.now() + steps * 30_000 });
  const wrongCode = (): string => {
    const near = new Set([-3, -2, -1, 0, 1, 2, 3].map(code));
    return (
      Array.from({ length: 8 }, (_, digit) => String(digit).repeat(6)).find((code) => !near.has(code)) ?? ''
    );
  };
  return { code, wrongCode };
}

export interface Enrolled {
  user: TestUser;
  browser: Browser;
  app: AuthenticatorApp;
  secret: string;
  recoveryCodes: string[];
}

/** A user with a confirmed second factor, of which no code counts as used; `browser` is verified with it. */
export async function enrolUser(gateway: TestGateway, owner?: TestUser): Promise<Enrolled> {
  const user = owner ?? (await gateway.createUser(0));
  const browser = await openBrowser(gateway, user);
  const verified = await browser.post('/api/verify', { method: 'password', code: user.password });
  expect(verified.status).to.equal(200);
  const begun = await browser.post('/api/auth/totp');
  expect(begun.status).to.equal(201);
  const { secret } = begun.body.data;
  const app = openApp(secret);
  const confirmed = await browser.post('/api/auth/totp/confirm', { code: app.code() });
  expect(confirmed.status).to.equal(200);
  const again = await browser.post('/api/verify', { method: 'totp', code: app.code(1) });
  expect(again.status).to.equal(200);
  await forgetUsedCodes(gateway, user);
  const session = await openBrowser(gateway, user); // the first one ended with the enrolment
  return {
    user: { ...user, session },
    browser,
    app,
    secret,
    recoveryCodes: confirmed.body.data.recoveryCodes,
  };
}

/** Forgets used codes, so that a test need not wait 30 seconds for the next one. */
export async function forgetUsedCodes(gateway: TestGateway, { id }: TestUser): Promise<void> {
  await gateway.em().execute(sql`update app_user set totp_last_step = 0 where id = ${id}`);
}

/** Resets the limits of guesses: all tests share one address and would use up each other's. */
export function forgetGuesses({ services, config }: TestGateway): void {
  services.limits.stop();
  services.limits = openLimits(config, services.secrets, services.log);
  services.guesses = createGuessLimiter(services.limits);
}

/** Expects a 429 with all documented headers. */
export function expectLimited(
  answer: Answer,
  code: string,
  limit: number,
  seconds: number,
  backend = 'memory',
): void {
  expect([answer.status, answer.body?.error?.code, answer.body?.error?.type]).to.deep.equal([
    429,
    code,
    'rate_limit_error',
  ]);
  const { remaining, wait, ...quota } = quotaOf(answer);
  expect({ ...quota, name: '' }).to.deep.equal({ name: '', limit, seconds });
  expect(wait).to.be.within(1, seconds);
  expect(remaining).to.equal(0);
  expect(answer.headers.get('x-ratelimit-backend')).to.equal(backend);
}

/** The answers to this many requests, sent one after another. */
export async function repeat(times: number, send: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let round = 0; round < times; round += 1) answers.push(await send());
  return answers;
}

/** The statuses of the answers, in ascending order. */
export function sortedStatuses(answers: Answer[]): number[] {
  return answers.map(({ status }) => status).sort((one, other) => one - other);
}
