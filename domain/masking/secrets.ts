// Finds secrets themselves: known token shapes, JWTs, key blocks, long encoded runs, credentials by their
// name.

import type { Finding } from './links.ts';
import { foldName, hidesValue } from './names.ts';

const TOKEN = '[masked:token]';

const TOKEN_SHAPES: readonly TokenShape[] = [
  { shape: /(?:sk-svc_|github_pat_)[\w-]{10,}/gi, mustLookRandom: false },
  {
    shape:
      /(?<![A-Za-z0-9])(?:sk-ant-|sk-proj-|gsk_|glpat-|gh[oprsu]_|[rs]k_(?:live|test)_|whsec_|shpat_|dop_v1_)[\w-]{12,}/gi,
    mustLookRandom: false,
  },
  { shape: /(?<![A-Za-z0-9])(?:AIza[\w-]{30,}|(?:xox[a-z]|xapp)-[\w-]{10,})/gi, mustLookRandom: false },
  { shape: /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}/g, mustLookRandom: false },
  { shape: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])/gi, mustLookRandom: true },
  { shape: /(?<![A-Za-z0-9])(?:sk|xai|pplx|tvly)-[\w-]{16,}/gi, mustLookRandom: true },
  { shape: /(?<![A-Za-z0-9])(?:hf|sk|npm|r8|fw|vda)_[\w-]{16,}/gi, mustLookRandom: true },
  { shape: /(?<![A-Za-z0-9])(?:ya29|SG)\.[\w-]{16,}(?:\.[\w-]{10,100})?/g, mustLookRandom: true },
  { shape: /(?<![A-Za-z0-9])SVC[- ]?(?:[0-9A-Z]{6}[- ]?){3}[0-9A-Z]{6}/gi, mustLookRandom: true },
];

const ENCODED_RUN_LENGTH_MIN = 200;
const SCHEME = /(?<![A-Za-z0-9])(?:Bearer|Basic)(?:\s{1,8}|\s{0,8}[:=]\s{0,8})["']?/gi;
const ASSIGNMENT =
  /(?<![\w-])((?:(?:api|access|secret|private|auth|client) )?[\w-]{2,64})(["']?\s{0,4}(?:=>|[=:])\s{0,4})/gi;
const WORD = /[^\s"'<>&,;)\]}]*/y;
const LINE = /[^\r\n"<>]*/y;

/** Finds tokens known by their prefix. */
export function findTokens(text: string): Finding[] {
  return TOKEN_SHAPES.flatMap(({ shape, mustLookRandom }) =>
    [...text.matchAll(shape)]
      .filter(
        (match) => !mustLookRandom || /\d|[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]{24}/.test(match[0].slice(3)),
      )
      .map((match) => ({ start: match.index, end: match.index + match[0].length, marker: TOKEN })),
  );
}

/** Finds JSON Web Tokens and other base64url of a JSON object: `eyJ…`. */
export function findJsonTokens(text: string): Finding[] {
  const findings: Finding[] = [];
  for (const match of text.matchAll(/(?<![\w.-])[\w.-]{20,}/g)) {
    if (!/eyJ/i.test(match[0])) continue;
    const end = match.index + match[0].length;
    let segmentStart = match.index;
    for (const segment of match[0].split('.')) {
      const within = segment.length < 17 ? -1 : segment.search(/(?<![A-Za-z0-9])eyJ/i);
      const length = within === -1 ? 0 : segment.length - within;
      const restAfterSegment = end - (segmentStart + segment.length);
      if (length >= 30 || (length >= 17 && restAfterSegment > 4)) {
        findings.push({ start: segmentStart + within, end, marker: TOKEN });
        break;
      }
      segmentStart += segment.length + 1;
    }
  }
  return findings;
}

/** Finds PEM blocks, to their end or, when that is missing, to the end of the text. */
export function findKeyBlocks(text: string): Finding[] {
  const findings: Finding[] = [];
  const blockEnd = /-----END [A-Z0-9 ]{1,60}-----/gi;
  let coveredUntil = 0;
  for (const match of text.matchAll(
    /-----BEGIN (?=[A-Z0-9 ]{0,50}(?:KEY|CERTIFICATE|MESSAGE))[A-Z0-9 ]{1,60}/gi,
  )) {
    if (match.index < coveredUntil) continue;
    blockEnd.lastIndex = match.index;
    const last = blockEnd.exec(text);
    coveredUntil = last === null ? text.length : last.index + last[0].length;
    findings.push({ start: match.index, end: coveredUntil, marker: TOKEN });
  }
  return findings;
}

/**
 * Finds runs of base64, base64url or hexadecimal characters; consecutive lines of 60 and more are one run.
 */
export function findEncodedRuns(text: string): Finding[] {
  const runs: { start: number; end: number; length: number; lines: number }[] = [];
  for (const match of text.matchAll(/(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{60,}={0,2}/g)) {
    if (isRuledLine(match[0])) continue;
    const end = match.index + match[0].length;
    const last = runs.at(-1);
    if (last !== undefined && /^\r?\n$/.test(text.slice(last.end, Math.min(match.index, last.end + 3)))) {
      runs[runs.length - 1] = {
        start: last.start,
        end,
        length: last.length + match[0].length,
        lines: last.lines + 1,
      };
    } else {
      runs.push({ start: match.index, end, length: match[0].length, lines: 1 });
    }
  }
  return runs.flatMap(({ start, end, length, lines }) => {
    const tail =
      lines > 1 ? (/^\r?\n([A-Za-z0-9+/_-]{1,59}={0,2})/.exec(text.slice(end, end + 64)) ?? []) : [];
    const total = length + (tail[1]?.length ?? 0);
    if (total < ENCODED_RUN_LENGTH_MIN) return [];
    return [{ start, end: end + (tail[0]?.length ?? 0), marker: `[masked:base64 ${total}]` }];
  });
}

/**
 * Finds the word after `Bearer` or `Basic`, unless it reads as prose: "Basic shapes", "the bearer of good
 * news".
 */
export function findAuthorizations(text: string): Finding[] {
  return wordsAfterScheme(text).filter(({ start, end }) => !isProse(text.slice(start, end)));
}

/** Finds any word after `Bearer` or `Basic` in an error text, except the few that say what was wrong. */
export function findAuthorizationsStrictly(text: string): Finding[] {
  const harmless = /^(?:token|auth|authentication|authorization|scheme|realm|is|was|not|or|and|header)\W*$/i;
  return wordsAfterScheme(text).filter(({ start, end }) => !harmless.test(text.slice(start, end)));
}

/**
 * Finds values assigned to a secret name: `password=…`, `"api_key": "…"`, `Cookie: …`, `&X-Amz-Signature=…`.
 */
export function findNamedValues(text: string): Finding[] {
  const findings: Finding[] = [];
  let coveredUntil = 0;
  for (const match of text.matchAll(ASSIGNMENT)) {
    if (match.index < coveredUntil) continue;
    const name = foldName(match[1] ?? '');
    if (!hidesValue(name, 'text')) continue;
    const value = valueAt(text, match.index + match[0].length, name, match[2] ?? '');
    coveredUntil = value.end;
    if (value.isProse || !hidesValue(name, text.slice(value.start, value.end))) continue;
    findings.push({ start: value.start, end: value.end, marker: '[masked]' });
  }
  return findings;
}

interface AssignedValue {
  start: number;
  end: number;
  isProse: boolean;
}

interface TokenShape {
  shape: RegExp;
  /** For prefixes that ordinary names share, as in `sk-learn-compatible-estimators`. */
  mustLookRandom: boolean;
}

/** Whether a run is a line such as `-----` or `_____`, as drawn in prose. */
function isRuledLine(run: string): boolean {
  return run.replace(/[^A-Za-z0-9]/g, '').length * 2 < run.length;
}

function matchAt(pattern: RegExp, text: string, start: number): string {
  pattern.lastIndex = start;
  return pattern.exec(text)?.[0] ?? '';
}

function wordsAfterScheme(text: string): Finding[] {
  const findings: Finding[] = [];
  let coveredUntil = 0;
  for (const match of text.matchAll(SCHEME)) {
    const start = match.index + match[0].length;
    if (start <= coveredUntil) continue; // inside the word after an earlier scheme
    coveredUntil = start + matchAt(WORD, text, start).length;
    if (coveredUntil > start) findings.push({ start, end: coveredUntil, marker: TOKEN });
  }
  return findings;
}

/** Reads the value that begins at `start`; where nothing is assigned, it is empty and counts as prose. */
function valueAt(text: string, start: number, name: string, separator: string): AssignedValue {
  const quote = text.charAt(start);
  if (quote === '"' || quote === "'") {
    const end = endOfQuoted(text, start + 1, quote);
    return { start: start + 1, end, isProse: end === start + 1 };
  }
  // Asked before the word is read, which may be as long as the text and would be read again for each name
  // in it.
  if (quote === '{' || quote === '[') return { start, end: start, isProse: true };
  const word = matchAt(WORD, text, start);
  if (word === '') return { start, end: start, isProse: true };
  // `token=…` and `"token": …` assign, whatever follows; "the token: a coin" and "the secret = love" are
  // prose.
  const isTight = separator === '=' || /^["']/.test(separator);
  if (/(?:authorization|cookie)$/.test(name) && !isTight) {
    // What follows these schemes is found by findAuthorizations.
    if (/^(?:Bearer|Basic)$/i.test(word)) return { start, end: start, isProse: true };
    const line = matchAt(LINE, text, start).trimEnd();
    return { start, end: start + line.length, isProse: line.split(/\s+/).every(isProse) };
  }
  if (!isTight && isProse(word)) return { start, end: start, isProse: true };
  return { start, end: start + word.length, isProse: false };
}

function endOfQuoted(text: string, from: number, quote: string): number {
  for (let position = from; position < text.length; position += 1) {
    const character = text.charAt(position);
    if (character === quote) return position;
    if (character === '\\') position += 1;
  }
  return text.length;
}

/** Whether a word has ordinary length and case, is a number with a unit, or in another script: not random. */
function isProse(word: string): boolean {
  if (word.length > 80) return false;
  return word
    .split(/[-_/.,!?:()]+/)
    .every((part) =>
      /^(?:[A-Za-z]?[a-z’]{0,13}|[A-Z]{1,14}|\d{1,5}[A-Za-z]{0,3}\d{0,4}|[^\x20-\x7e]+)$/.test(part),
    );
}
