// Masks secrets inside a text: runs the finders over its views and replaces in the original what they find.

import { findDataUris, findAddresses, findUrls, findUserInfo, type Finder, type Finding } from './links.ts';
import { cutLong } from './length.ts';
import {
  findAuthorizations,
  findAuthorizationsStrictly,
  findEncodedRuns,
  findJsonTokens,
  findKeyBlocks,
  findNamedValues,
  findTokens,
} from './secrets.ts';
import { decodedView, joinedView, MARKER_STAND_IN, originOf, visibleView, type View } from './views.ts';

const PAYLOAD_FINDERS: readonly Finder[] = [
  ...[findDataUris, findUrls, findKeyBlocks, findTokens, findJsonTokens, findEncodedRuns],
  ...[findAuthorizations, findNamedValues, findUserInfo],
];
const TEXT_FINDERS: readonly Finder[] = [...PAYLOAD_FINDERS, findAddresses];
const STRICT_FINDERS: readonly Finder[] = [...TEXT_FINDERS, findAuthorizationsStrictly];
const JOINED_FINDERS: readonly Finder[] = [findTokens, findJsonTokens];

/**
 * A marker can make its neighbours match another rule: masking is repeated until nothing changes, at most so
 * often.
 */
const ROUNDS_MAX = 6;

/**
 * Masks a text of a request's payload. E-mail addresses stay, since they are the owner's content. `prepare`
 * changes the text before each round of masking.
 */
export function maskPayloadText(text: string, prepare?: (text: string) => string): string {
  return maskWith(PAYLOAD_FINDERS, text, prepare);
}

/**
 * Masks secrets and addresses in a text of our own making, such as a log message: URLs, data URIs, encoded
 * runs, known token shapes, credentials, e-mail addresses. Text without them is returned unchanged, unless it
 * is very long.
 */
export function maskText(text: string): string {
  return maskWith(TEXT_FINDERS, text);
}

/** Masks as `maskText` does, and hides a few words of prose rather than miss a secret. */
export function maskTextStrictly(text: string): string {
  return maskWith(STRICT_FINDERS, text);
}

function maskWith(finders: readonly Finder[], text: string, prepare?: (text: string) => string): string {
  let masked = cutLong(text);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    // Markers can be longer than what they stand for.
    const next = cutLong(maskOnce(finders, prepare === undefined ? masked : prepare(masked)));
    if (next === masked) return masked;
    masked = next;
  }
  return '[masked]';
}

function maskOnce(finders: readonly Finder[], text: string): string {
  const visible = visibleView(text);
  const decoded = decodedView(visible);
  const joined = joinedView(decoded);
  const findings = [
    findIn(visible, finders),
    decoded === visible ? [] : findIn(decoded, finders),
    joined === decoded ? [] : findIn(joined, JOINED_FINDERS),
  ].flat();
  return cutOut(text, findings);
}

/** What the finders find in a view, in positions of the original. */
function findIn(view: View, finders: readonly Finder[]): Finding[] {
  return finders
    .flatMap((find) => find(view.text))
    .filter(({ start, end }) => !isMarkerAlone(view.text, start, end))
    .map(({ start, end, marker }) => ({ start: originOf(view, start), end: originOf(view, end), marker }));
}

function isMarkerAlone(text: string, start: number, end: number): boolean {
  return end - start === 1 && text.charAt(start) === MARKER_STAND_IN;
}

/**
 * Replaces the findings. Where some overlap, all they cover is replaced, by the marker of the longest of
 * them.
 */
function cutOut(text: string, findings: Finding[]): string {
  if (findings.length === 0) return text;
  const parts: string[] = [];
  let copiedUntil = 0;
  for (const { start, end, marker } of mergeOverlapping(findings)) {
    parts.push(text.slice(copiedUntil, start), marker);
    copiedUntil = end;
  }
  parts.push(text.slice(copiedUntil));
  return parts.join('');
}

function mergeOverlapping(findings: Finding[]): Finding[] {
  findings.sort((one, other) => one.start - other.start || other.end - one.end);
  const merged: Finding[] = [];
  let longest = 0;
  for (const finding of findings) {
    const length = finding.end - finding.start;
    const last = merged.at(-1);
    if (last === undefined || finding.start >= last.end) {
      merged.push({ ...finding });
      longest = length;
      continue;
    }
    last.end = Math.max(last.end, finding.end);
    if (length > longest) {
      last.marker = finding.marker;
      longest = length;
    }
  }
  return merged;
}
