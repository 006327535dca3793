// Masks a vendor's error text for the owner of a task: what it gives away of machines, code and data is
// removed.

import { PLACE_RULES, SPANNING_RULES, WINDOWS_PATHS, type ErrorRule } from './error-rules.ts';
import { cutText } from '../cut-text.ts';
import { cutAtWhiteSpace, MASKED_TEXT_LENGTH_MAX } from './length.ts';
import { maskTextStrictly } from './text.ts';
import { MARKER_SOURCE, TERMINAL_SEQUENCE_SOURCE, decodedView, visibleView } from './views.ts';

const ERROR_TEXT_LENGTH_MAX = 500;
const ROUNDS_MAX = 4;

const MARKER = new RegExp(MARKER_SOURCE, 'g');
const MARKER_KEPT_BY_SPLIT = new RegExp(`(${MARKER_SOURCE})`);
const CONTROLS = new RegExp(
  `${TERMINAL_SEQUENCE_SOURCE}|${String.raw`(?<!\\)\\+(?:u001b|x1b|033)\[[0-?]*[ -\/]*[@-~]`}|` +
    String.raw`[\p{Default_Ignorable_Code_Point}\p{Cf}\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]`,
  'giu',
);

/**
 * Makes a vendor's error text fit to be shown: without secrets, URLs, hosts, addresses, paths, SQL, stack
 * lines, terminal codes and control characters, on one line, at most 500 characters. Empty when nothing is
 * left.
 */
export function maskErrorText(text: string): string {
  let masked = withoutControls(cutAtWhiteSpace(text, MASKED_TEXT_LENGTH_MAX));
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const next = maskOnce(masked);
    if (next === masked) break;
    masked = next;
  }
  return shorten(masked, ERROR_TEXT_LENGTH_MAX);
}

/** Cuts a masked text to a length, between code points and not inside a marker. */
export function shorten(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  let end = lengthMax - 1; // room for the ellipsis
  for (const marker of text.matchAll(MARKER)) {
    if (marker.index < end && marker.index + marker[0].length > end) end = marker.index;
  }
  return `${cutText(text, end).trimEnd()}…`;
}

function maskOnce(text: string): string {
  let masked = applyBetweenMarkers(maskTextStrictly(text), WINDOWS_PATHS);
  masked = betweenMarkers(masked, (part) => decodedView(visibleView(part)).text);
  masked = applyRules(maskTextStrictly(masked), SPANNING_RULES);
  masked = applyBetweenMarkers(masked, PLACE_RULES);
  return withoutControls(masked).replace(/\s+/g, ' ').trim();
}

function applyBetweenMarkers(text: string, rules: readonly ErrorRule[]): string {
  return rules.reduce((masked, rule) => betweenMarkers(masked, (part) => applyRules(part, [rule])), text);
}

function applyRules(text: string, rules: readonly ErrorRule[]): string {
  return rules.reduce(
    (masked, { pattern, marker, applies }) =>
      masked.replace(pattern, (match: string) => (applies === undefined || applies(match) ? marker : match)),
    text,
  );
}

/** Changes the text between the markers and leaves the markers as they are. */
function betweenMarkers(text: string, change: (part: string) => string): string {
  return text
    .split(MARKER_KEPT_BY_SPLIT)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('');
}

function withoutControls(text: string): string {
  return text.replace(CONTROLS, '').toWellFormed();
}
