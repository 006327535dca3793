// Finds URLs, data URIs, e-mail addresses, and credentials in front of a host. Each finder takes time linear
// in the text: no rule is tried again inside a stretch it has already read.

/** A stretch of text to be replaced by a marker; positions as in `String.slice`. */
export interface Finding {
  start: number;
  end: number;
  marker: string;
}

/** Finds everything in a text that has to be hidden, by one rule. */
export type Finder = (text: string) => Finding[];

/**
 * Where a URL ends: white space, quotes, angle brackets, CJK punctuation, an escape that stands for one of
 * these. The look-behind keeps a long row of backslashes from being tried at each of them.
 */
const RUN_END =
  /[\s"<>`、。，；：？！（）「」『』《》【】“”‘’]|'(?=[\s,;:)\]}>]|$)|(?<!\\)\\{1,200}["'nrtu]/g;
const DATA_URI_HEAD_LENGTH_MAX = 1_000;
const DATA_URI_HEAD =
  /(?<![A-Za-z0-9])data:([a-z]{1,20}\/[\w.+-]{1,80})?((?:;[\w.-]{1,40}(?:=[^;,\s"'<>]{0,80})?){0,6}),/gi;
const SHOWN_MEDIA_TYPE =
  /^(?:image|video|audio|text|application|font|model)\/[a-z0-9]{1,11}(?:[.+-][a-z0-9]{1,11}){0,2}$/;
const AT_SIGN_AND_HOST = /(?<=[^\s@])@[A-Za-z0-9\u00c0-\u024f][A-Za-z0-9.\u00c0-\u024f-]*/g;
const ADDRESS_LABEL = /^(?:mailto|e-?mail|to|from|cc|bcc|contact)$/i;
const ADDRESS_CHARACTER = /[!#-&*-.0-:=?A-Z\\^-z|~\u00c0-\u024f]/;
const WRAPPED_LINE_LENGTH_MIN = 60;

/** Finds `scheme://` with what follows, to the end of the run. */
export function findUrls(text: string): Finding[] {
  const findings: Finding[] = [];
  let from = 0;
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', from)) {
    const start = startOfScheme(text, from, at);
    from = at + 3;
    if (start === at) continue;
    const runEnd = endOfRun(text, from);
    const end = withoutTrailingPunctuation(text, from, runEnd);
    if (end > from) findings.push({ start, end, marker: '[masked:url]' });
    from = runEnd;
  }
  return findings;
}

/** Finds `data:` URIs; the marker keeps the media type and the number of bytes they decode to. */
export function findDataUris(text: string): Finding[] {
  const findings: Finding[] = [];
  let coveredUntil = 0;
  for (const match of text.matchAll(DATA_URI_HEAD)) {
    if (match.index < coveredUntil) continue;
    const finding = readDataUri(text, match);
    coveredUntil = finding.end;
    findings.push(finding);
  }
  return findings;
}

/** Finds the data URI that a text of any length begins with; null when there is none. */
export function leadingDataUri(text: string): Finding | null {
  const [match] = text.slice(0, DATA_URI_HEAD_LENGTH_MAX).matchAll(DATA_URI_HEAD);
  return match?.index === 0 ? readDataUri(text, match) : null;
}

/** Finds `user:password@host` without a scheme. */
export function findUserInfo(text: string): Finding[] {
  return addresses(text).flatMap((address) => userInfoIn(text, address) ?? []);
}

/** Finds `user:password@host` and e-mail addresses. */
export function findAddresses(text: string): Finding[] {
  return addresses(text).flatMap(
    (address) => userInfoIn(text, address) ?? emailAddressIn(text, address) ?? [],
  );
}

function readDataUri(text: string, head: RegExpExecArray): Finding {
  const payloadStart = head.index + head[0].length;
  const isBase64 = /;base64$/i.test(head[2] ?? '');
  let end = isBase64 ? endOfWrappedRun(text, payloadStart) : endOfRun(text, payloadStart);
  // A picture written as text contains spaces and quotes: when the URI is the whole value, all of it is
  // hidden.
  if (!isBase64 && text.slice(0, head.index).trim() === '') end = text.length;
  const payload = text.slice(payloadStart, end);
  const bytes = isBase64 ? bytesOfBase64(payload) : bytesOfUtf8(payload);
  return { start: head.index, end, marker: `[masked:data-uri ${shownMediaType(head[1])} ${bytes}]` };
}

function startOfScheme(text: string, from: number, at: number): number {
  let start = at;
  while (start > from && /[A-Za-z0-9+.-]/.test(text.charAt(start - 1))) start -= 1;
  while (start < at && !/[A-Za-z]/.test(text.charAt(start))) start += 1;
  return start;
}

function endOfRun(text: string, from: number): number {
  RUN_END.lastIndex = from;
  return RUN_END.exec(text)?.index ?? text.length;
}

/** Base64 is often wrapped: a line that was long enough to be wrapped continues in the next one. */
function endOfWrappedRun(text: string, from: number): number {
  let end = endOfRun(text, from);
  for (let lineStart = from; end - lineStart >= WRAPPED_LINE_LENGTH_MIN;) {
    const lineBreak = /^\r?\n(?=[\w+/-])/.exec(text.slice(end, end + 3))?.[0].length ?? 0;
    if (lineBreak === 0) break;
    lineStart = end + lineBreak;
    end = endOfRun(text, lineStart);
  }
  return end;
}

function withoutTrailingPunctuation(text: string, from: number, end: number): number {
  let shortened = end;
  while (shortened > from && '.,;:!?)]}'.includes(text.charAt(shortened - 1))) shortened -= 1;
  return shortened;
}

function bytesOfBase64(payload: string): number {
  return Math.floor((payload.replace(/[^A-Za-z0-9+/_-]/g, '').length * 3) / 4);
}

function bytesOfUtf8(payload: string): number {
  let bytes = Buffer.byteLength(payload);
  for (let position = payload.indexOf('%'); position !== -1; position = payload.indexOf('%', position + 1)) {
    if (/^[0-9a-f]{2}$/i.test(payload.slice(position + 1, position + 3))) bytes -= 2;
  }
  return bytes;
}

/** A media type is text of the sender too: only what looks like a real one is repeated. */
function shownMediaType(mediaType: string | undefined): string {
  const folded = (mediaType ?? 'text/plain').toLowerCase();
  return SHOWN_MEDIA_TYPE.test(folded) ? folded : 'application/unknown';
}

/** Positions of a text before an at sign and the host after it. */
interface Address {
  start: number;
  at: number;
  end: number;
}

function addresses(text: string): Address[] {
  const found: Address[] = [];
  for (const match of text.matchAll(AT_SIGN_AND_HOST)) {
    const at = match.index;
    let start = at;
    while (start > 0 && ADDRESS_CHARACTER.test(text.charAt(start - 1))) start -= 1;
    if (start < at) found.push({ start, at, end: at + match[0].replace(/[.-]{1,3}$/, '').length });
  }
  return found;
}

function userInfoIn(text: string, { start, at, end }: Address): Finding | null {
  const local = text.slice(start, at);
  const colon = local.indexOf(':');
  if (colon < 1 || colon === local.length - 1 || ADDRESS_LABEL.test(local.slice(0, colon))) return null;
  const host = text.slice(at + 1, end);
  const port = /^:\d{1,5}/.exec(text.slice(end, end + 6))?.[0] ?? '';
  if (port === '' && host !== 'localhost' && !host.includes('.')) return null;
  return { start, end: end + port.length, marker: '[masked:token]' };
}

function emailAddressIn(text: string, { start, at, end }: Address): Finding | null {
  if (!/\.(?:[a-z\u00c0-\u024f]{2,24}|xn--[a-z0-9-]{2,40})$/i.test(text.slice(at + 1, end))) return null;
  let localStart = at;
  while (localStart > start && !/[:=|&?]/.test(text.charAt(localStart - 1))) localStart -= 1;
  return localStart === at ? null : { start: localStart, end, marker: '[masked:email]' };
}
