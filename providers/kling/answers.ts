// How Kling answers: one envelope around everything, whose code counts more than the HTTP status.
import { parseCredits, type MicroCredits } from '../../domain/credits.ts';
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import { requestJson, type UpstreamRequest } from '../http/client.ts';
import { failureOfStatus, verdictOfStatus, type Verdict } from '../http/status.ts';
import { UpstreamFailure } from '../provider.ts';
import { membersOf, numberOf, textOf, type VendorError } from '../http/json-fields.ts';

export interface KlingAnswer {
  data: unknown;
  upstreamRequestId: string | null;
}

/** What a call is about decides what “not there” means: for a submission the model, for a look the job. */
export type About = 'submission' | 'job';

/** 1 unit is about 0.14 USD, which are 28 credits. */
const CREDITS_PER_UNIT = 28n;
const CREDITS_PER_USD = 200n;
const SECONDS_PLAUSIBLE_MAX = 600;

const VERDICTS: Readonly<Record<string, Verdict>> = {
  1000: { errorClass: 'auth', fate: 'not_received' },
  1001: { errorClass: 'auth', fate: 'not_received' },
  1002: { errorClass: 'auth', fate: 'not_received' },
  1003: { errorClass: 'auth', fate: 'not_received' },
  1004: { errorClass: 'auth', fate: 'not_received' },
  1100: { errorClass: 'quota', fate: 'not_received' },
  1101: { errorClass: 'quota', fate: 'not_received' },
  1102: { errorClass: 'quota', fate: 'not_received' },
  1103: { errorClass: 'auth', fate: 'not_received' },
  1200: { errorClass: 'invalid', fate: 'refused' },
  1201: { errorClass: 'invalid', fate: 'refused' },
  1202: { errorClass: 'invalid', fate: 'refused' },
  1203: { errorClass: 'model_retired', fate: 'refused' },
  1300: { errorClass: 'moderation', fate: 'refused' },
  1301: { errorClass: 'moderation', fate: 'refused' },
  1302: { errorClass: 'rate', fate: 'not_received' },
  1303: { errorClass: 'concurrency', fate: 'not_received' },
  1304: { errorClass: 'auth', fate: 'not_received' },
  5000: { errorClass: 'transient', fate: 'unknown' },
  5001: { errorClass: 'transient', fate: 'not_received' },
  5002: { errorClass: 'transient', fate: 'unknown' },
};

/** Jobs fail with words alone. */
const WORDS: readonly (readonly [RegExp, UpstreamErrorClass])[] = [
  [/risk control|moderation|content (policy|security)|sensitive|violat|inappropriate/, 'moderation'],
  // “Parallel task over resource pack limit” is about the number of jobs.
  [/concurren|parallel|too many/, 'concurrency'],
  [/balance|arrears|resource pack|quota|insufficient/, 'quota'],
  [
    /invalid|unsupported|not supported|parameter|decode|(image|video|file) (size|format|resolution)/,
    'invalid',
  ],
];

/**
 * Makes one call and opens the envelope. Throws an UpstreamFailure, also for a refusal that comes with HTTP 200, and
 * `invalid_response`, `unknown` for what is no envelope. Whatever says that a job is not there is `expired`, `refused`.
 */
export async function callKling(call: UpstreamRequest, about: About): Promise<KlingAnswer> {
  const answer = await requestJson(call, (refusal) =>
    failureOfStatus(refusal, (error, status) => verdictOf(error, status, about)),
  );
  const envelope = membersOf(answer.json);
  const code = numberOf(envelope['code']);
  const upstreamRequestId = textOf(envelope['request_id']) ?? answer.upstreamRequestId;
  if (code === null) throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
  if (code === 0) return { data: envelope['data'], upstreamRequestId };
  const message = textOf(envelope['message']);
  const refused = verdictOf({ code: String(code), type: null, message }, answer.status, about);
  const verdict = refused ?? { errorClass: 'transient', fate: 'unknown' };
  throw new UpstreamFailure(verdict.errorClass, verdict.fate, { text: message, upstreamRequestId });
}

function verdictOf({ code, message }: VendorError, status: number, about: About): Verdict | undefined {
  const verdict = VERDICTS[code ?? ''] ?? (status > 299 ? verdictOfStatus(status) : undefined);
  if (about === 'submission' || verdict === undefined) return verdict;
  const isUnknownJob = verdict.errorClass === 'invalid' && /not (be )?(found|exist)/i.test(message ?? '');
  const isGone = verdict.errorClass === 'model_retired' || isUnknownJob;
  return isGone ? { errorClass: 'expired', fate: 'refused' } : verdict;
}

/** Whether the vendor refused a submission because it has one with the same id of ours already. */
export function saysDuplicate({ errorClass, text }: UpstreamFailure): boolean {
  return errorClass === 'invalid' && /already exist|duplicat/i.test(text ?? '');
}

/** The class of a failed job by the vendor's words about it; without known ones, it is the vendor's own trouble. */
export function classOfWords(text: string | null): UpstreamErrorClass {
  const words = (text ?? '').toLowerCase();
  return WORDS.find(([pattern]) => pattern.test(words))?.[1] ?? 'transient';
}

/** Seconds, which come as a text such as "5.041": the nearest whole ones above, since the vendor bills whole ones. */
export function readSeconds(value: unknown): number | null {
  const amount = readDecimal(value);
  const seconds = amount === null ? null : Math.ceil(Number(amount) / 1_000_000 - 0.1);
  return seconds !== null && seconds > 0 && seconds <= SECONDS_PLAUSIBLE_MAX ? seconds : null;
}

/** What units cost, in micro-credits; null for what is no plausible number. */
export function costOfUnits(value: unknown): MicroCredits | null {
  const units = readDecimal(value);
  return units === null ? null : units * CREDITS_PER_UNIT;
}

/** What an amount of dollars is, in micro-credits. */
export function costOfDollars(value: unknown): MicroCredits | null {
  const dollars = readDecimal(value);
  return dollars === null ? null : dollars * CREDITS_PER_USD;
}

/** A number, mostly written as a text, in millionths. */
function readDecimal(value: unknown): bigint | null {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^\d{1,6}(\.\d{1,6})?$/.test(text) ? parseCredits(text) : null;
}
