// Views of a text: as a reader or a decoder would see it, with each position traced back to the original.
// Secrets are searched in the views and replaced in the original, so that text without secrets is never
// altered.

export interface View {
  text: string;
  /** For each position in `text`, and for its end, the position in the original; null when they are equal. */
  origins: Int32Array | null;
}

/** Replaces, in a view, a marker left by earlier masking, so that no rule takes a marker apart. */
export const MARKER_STAND_IN = '\uE000';

/** The pattern of a marker, for text that is masked once more. */
export const MARKER_SOURCE =
  String.raw`\[masked(?::(?:url|token|email|host|ip|path|sql|too-deep|too-large|(?:base64|rest) \d{1,12}` +
  String.raw`|data-uri [a-z]{1,12}\/[a-z0-9]{1,11}(?:[.+-][a-z0-9]{1,11}){0,2} \d{1,12}))?\]`;

const INVISIBLE_SOURCE = String.raw`[\p{Default_Ignorable_Code_Point}\p{Cf}\x00-\x08\x0e-\x1f\x7f-\x9f]`;
const INVISIBLE = new RegExp(INVISIBLE_SOURCE, 'u');

/** Terminal control sequences: colours, cursor movement, window titles. */
export const TERMINAL_SEQUENCE_SOURCE = String.raw`(?:\x1b\[|\x9b)[0-?]*[ -\/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?`;

const HIDDEN = new RegExp(`${TERMINAL_SEQUENCE_SOURCE}|${INVISIBLE_SOURCE}|${MARKER_SOURCE}`, 'gu');
const MAY_HOLD_HIDDEN = /[^\n\r\t\x20-\x7e]|\[masked/;

/** A percent sign may itself be encoded as %25, any number of times; one unit is one character of UTF-8. */
const PERCENT = '%(?:25)*';
const CONTINUATION = `${PERCENT}[89ab][0-9a-f]`;
const ENCODED = new RegExp(
  [
    `${PERCENT}[0-7][0-9a-f]`,
    `${PERCENT}[cd][0-9a-f]${CONTINUATION}`,
    `${PERCENT}e[0-9a-f]${CONTINUATION}${CONTINUATION}`,
    `${PERCENT}f[0-7]${CONTINUATION}${CONTINUATION}${CONTINUATION}`,
    // The look-behind keeps a long row of backslashes from being tried at each of them.
    String.raw`(?<!\\)\\+(?:u[0-9a-f]{4}|x[0-9a-f]{2}|["'/nrt])`,
  ].join('|'),
  'gi',
);

const WRAPPING_LINE_BREAK = /(?<=[\w-])\r?\n(?=[\w-]{0,40}?(?:\d|[a-z][A-Z]))/g;

const WHITE_SPACE_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/**
 * The text as it looks: without terminal colours, control and zero-width characters, markers as one
 * character.
 */
export function visibleView(original: string): View {
  const view: View = { text: original, origins: null };
  if (!MAY_HOLD_HIDDEN.test(original)) return view;
  return rewrite(view, HIDDEN, (unit) => (unit.startsWith('[masked') ? MARKER_STAND_IN : ''));
}

/** The text with percent-encoding (also repeated) and JSON escapes (also nested) resolved. */
export function decodedView(visible: View): View {
  if (!/[%\\]/.test(visible.text)) return visible;
  return rewrite(visible, ENCODED, (unit) => {
    const decoded = decodeUnit(unit);
    return MAY_HOLD_HIDDEN.test(decoded) && INVISIBLE.test(decoded) ? '' : decoded;
  });
}

/**
 * The text without line breaks where the next line begins with something that looks random: a token may have
 * been wrapped there. Words of prose are not joined.
 */
export function joinedView(decoded: View): View {
  if (!decoded.text.includes('\n')) return decoded;
  return rewrite(decoded, WRAPPING_LINE_BREAK, () => '');
}

/** The position in the original of a position in the view. */
export function originOf(view: View, position: number): number {
  return view.origins?.[position] ?? position;
}

function decodeUnit(unit: string): string {
  if (unit.startsWith('%')) {
    const lastByte = Number.parseInt(unit.slice(-2), 16);
    if (lastByte < 0x80) return String.fromCharCode(lastByte);
    try {
      return decodeURIComponent(unit.replace(/%(?:25)*(?=[0-9a-f]{2})/gi, '%'));
    } catch {
      return unit; // not UTF-8 after all: the text stays as it is
    }
  }
  const escaped = unit.slice(unit.lastIndexOf('\\') + 1);
  if (escaped.length > 1) return String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
  return WHITE_SPACE_ESCAPES[escaped] ?? escaped;
}

/** Replaces every match by something that is not longer, and keeps where each position came from. */
function rewrite(view: View, pattern: RegExp, replace: (unit: string) => string): View {
  const parts: string[] = [];
  const origins = new Int32Array(view.text.length + 1);
  let length = 0;
  let copiedUntil = 0;
  const addOrigin = (position: number): void => {
    origins[length] = originOf(view, position);
    length += 1;
  };
  const copyUntil = (end: number): void => {
    parts.push(view.text.slice(copiedUntil, end));
    for (let position = copiedUntil; position < end; position += 1) addOrigin(position);
  };
  for (const match of view.text.matchAll(pattern)) {
    const replacement = replace(match[0]);
    if (replacement === match[0]) continue;
    copyUntil(match.index);
    parts.push(replacement);
    for (let count = 0; count < replacement.length; count += 1) addOrigin(match.index);
    copiedUntil = match.index + match[0].length;
  }
  if (copiedUntil === 0) return view;
  copyUntil(view.text.length);
  origins[length] = originOf(view, view.text.length);
  return { text: parts.join(''), origins: origins.subarray(0, length + 1) };
}
