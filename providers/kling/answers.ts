// Kling's answers: one envelope around everything, whose code counts more than the HTTP status.
import { CREDITS_PER_USD, parseCredits, type MicroCredits } from '../../domain/credits.ts';
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import { requestIdOf } from '../http/client.ts';
import type { JsonApi, JsonApiRequest } from '../http/json-api.ts';
import { failureOfStatus, verdictOfStatus, type Verdict } from '../http/status.ts';
import { findMeaning, meaningOf, type Patterns } from '../patterns.ts';
import { UpstreamFailure } from '../provider.ts';
import { SECONDS_PLAUSIBLE_MAX } from '../reported-seconds.ts';
import { membersOf, numberOf, textOf, type VendorError } from '../http/json-fields.ts';

export interface KlingAnswer {
  data: unknown;
  upstreamRequestId: string | null;
}

/**
 * What a request is about, which decides what “not found” means: the model of a submission, or the job of a
 * query.
 */
export type Subject = 'submission' | 'job';

/** 1 unit is about 0.14 USD, which are 28 credits. */
const CREDITS_PER_UNIT = 28n;

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

/** Messages of failed jobs, which have no code. */
const CLASS_OF_MESSAGE: Patterns<UpstreamErrorClass> = [
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
 * Sends one request and unwraps the envelope. Throws an UpstreamFailure also for a refusal that comes with
 * HTTP 200, and `invalid_response`, `unknown` for a body that is no envelope. A job that the vendor does not
 * know is `expired`, `refused`.
 */
export async function sendToKling(
  api: JsonApi,
  request: Omit<JsonApiRequest, 'toFailure'>,
  about: Subject,
): Promise<KlingAnswer> {
  const response = await api.send({
    ...request,
    toFailure: (refused) => failureOfStatus(refused, (error, status) => verdictOf(error, status, about)),
  });
  const envelope = membersOf(response.json);
  const code = numberOf(envelope['code']);
  const upstreamRequestId = requestIdOf(envelope['request_id']) ?? response.upstreamRequestId;
  if (code === null) throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
  if (code === 0) return { data: envelope['data'], upstreamRequestId };
  const message = textOf(envelope['message']);
  const refused = verdictOf({ code: String(code), type: null, message }, response.status, about);
  const verdict = refused ?? { errorClass: 'transient', fate: 'unknown' };
  throw new UpstreamFailure(verdict.errorClass, verdict.fate, { text: message, upstreamRequestId });
}

function verdictOf({ code, message }: VendorError, status: number, about: Subject): Verdict | undefined {
  const verdict = meaningOf(VERDICTS, code) ?? (status > 299 ? verdictOfStatus(status) : undefined);
  if (about === 'submission' || verdict === undefined) return verdict;
  const isUnknownJob = verdict.errorClass === 'invalid' && /not (be )?(found|exist)/i.test(message ?? '');
  const isGone = verdict.errorClass === 'model_retired' || isUnknownJob;
  return isGone ? { errorClass: 'expired', fate: 'refused' } : verdict;
}

/** Whether the vendor refused a submission because it already has one with the same external id. */
export function isDuplicate({ errorClass, text }: UpstreamFailure): boolean {
  return errorClass === 'invalid' && /already exist|duplicat/i.test(text ?? '');
}

/** The class of a failed job by the vendor's message; `transient` for an unknown message. */
export function classOfMessage(message: string | null): UpstreamErrorClass {
  return findMeaning(CLASS_OF_MESSAGE, message) ?? 'transient';
}

/**
 * Seconds from a text such as "5.041", rounded up since the vendor bills whole ones; null for what is not
 * plausible.
 */
export function readBilledSeconds(value: unknown): number | null {
  const amount = readDecimal(value);
  const seconds = amount === null ? null : Math.ceil(Number(amount) / 1_000_000 - 0.1);
  return seconds !== null && seconds > 0 && seconds <= SECONDS_PLAUSIBLE_MAX ? seconds : null;
}

/** The cost of the vendor's units in micro-credits; null for what is no plausible number. */
export function costOfUnits(value: unknown): MicroCredits | null {
  const units = readDecimal(value);
  return units === null ? null : units * CREDITS_PER_UNIT;
}

/** An amount of dollars in micro-credits; null for what is no plausible number. */
export function costOfDollars(value: unknown): MicroCredits | null {
  const dollars = readDecimal(value);
  return dollars === null ? null : dollars * BigInt(CREDITS_PER_USD);
}

/** A decimal number, mostly written as a text, in millionths; null for anything else. */
function readDecimal(value: unknown): bigint | null {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^\d{1,6}(\.\d{1,6})?$/.test(text) ? parseCredits(text) : null;
}
