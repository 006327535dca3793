// Patterns of what an error text gives away about machines, code and data. Quantifiers that could compete for
// the same characters are bounded, because the texts come from outside.

export interface ErrorRule {
  pattern: RegExp;
  /** Replaces each match. */
  marker: string;
  /** Decides about each match, where the pattern alone would match too much. */
  applies?: (match: string) => boolean;
}

const PATH = '[masked:path]';
const HOST = '[masked:host]';
const IP = '[masked:ip]';
const SQL = '[masked:sql]';

/** A segment of a path, in any writing system. */
const SEGMENT = String.raw`[^\s"'<>|:;,()\[\]{}\/、。，；：]{1,200}`;
const LINE_AND_COLUMN = String.raw`(?::\d{1,7}){0,2}`;
const EXTENSION = `\\.(?:${[
  'c?[jt]sx?|m[jt]s|py|rb|go|rs|java|kt|php|cc?|cpp|cs|h|sh|sql|db|sqlite|json|ya?ml|toml|env|log|conf|cfg|ini',
  'pem|key|crt|txt|csv|png|jpe?g|webp|gif|mp4|mov|webm',
].join('|')})\\b`;

/** The place that a stack line names: `file:1:2`, `Main.java:5`, a place masked before, or none. */
const PLACE = [
  String.raw`[^()\n]{0,300}:\d{1,7}`,
  '<anonymous>|native|Native Method|Unknown Source',
  String.raw`[^()\n]{0,80}\[masked:[a-z]{1,10}\][^()\n]{0,80}`,
].join('|');

const NOT_WITHIN_NAME = String.raw`(?<![\w@.-])`;
const LABEL = String.raw`(?:[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)`;
const PORT_AND_END = String.raw`(?::\d{1,5})?(?![\w-]|\.\w)`;
const TOP_LEVEL_DOMAINS = [
  'com|net|org|io|ai|dev|app|cloud|info|biz|xyz|tech|online|site|edu|gov',
  'internal|intra|local|localdomain|lan|corp|svc|xn--[a-z0-9-]{2,40}',
  'cn|hk|tw|jp|kr|sg|uk|de|fr|eu|us|ca|au|ru|br|nl|se|ch|co|me|sh|tv|cc',
].join('|');

/**
 * Names of the fields that requests to vendors have three levels deep or more. A name of these alone, such as
 * `text.format.name`, is a place in the request and no host.
 */
const FIELDS = new Set([
  ...['text', 'format', 'name', 'type', 'schema', 'strict', 'description', 'verbosity', 'mode', 'url'],
  ...['response_format', 'json_schema', 'grammar', 'definition', 'syntax', 'reasoning', 'effort', 'summary'],
  ...['messages', 'message', 'input', 'output', 'content', 'contents', 'parts', 'refusal', 'detail'],
  ...['image_url', 'input_image', 'tools', 'tool_choice', 'tool_calls', 'allowed_tools', 'function'],
  ...['function_call', 'custom', 'parameters', 'arguments', 'properties', 'required', 'items'],
  ...['generationconfig', 'imageconfig', 'aspectratio', 'imagesize', 'generation_config', 'image_config'],
  ...['video_config', 'task', 'instances', 'image', 'video', 'prompt', 'mimetype', 'settings', 'duration'],
]);

/**
 * Rules for the text before its escapes are resolved: in a Windows path, `\n` and `\t` begin names, elsewhere
 * they are white space.
 */
export const WINDOWS_PATHS: readonly ErrorRule[] = [
  { pattern: /(?<![A-Za-z])[A-Za-z]:\\+(?:[^\\\n"'<>|:*?]{1,80}\\+)*[^\s\\"'<>|]*/g, marker: PATH },
  { pattern: /\\\\[\w.$-]{1,80}\\[^\s"'<>|]*/g, marker: PATH },
];

/** Rules whose matches may contain markers set before. */
export const SPANNING_RULES: readonly ErrorRule[] = [
  { pattern: /\b(?:SELECT\s[^]{1,500}?\sFROM|INSERT\s{1,9}INTO)\s[^]*?(?=\n\s*\n|$)/g, marker: SQL },
  { pattern: /\b(?:UPDATE\s{1,9}\S{1,100}\s{1,9}SET|DELETE\s{1,9}FROM)\s[^]*?(?=\n\s*\n|$)/g, marker: SQL },
  {
    pattern: /\b(?:CREATE|ALTER|DROP)\s{1,9}(?:TABLE|INDEX|SCHEMA|DATABASE)\s[^]*?(?=\n\s*\n|$)/g,
    marker: SQL,
  },
  {
    pattern: /\bselect\s[^;]{1,300}?\sfrom\s{1,9}["`\w.]{1,100}[^]*?(?=\n\s*\n|$)/gi,
    marker: SQL,
    applies: looksLikeSelect,
  },
  { pattern: /\binsert\s{1,9}into\s{1,9}["`\w.]{1,100}\s{0,9}\([^]*?(?=\n\s*\n|$)/gi, marker: SQL },
  {
    pattern: /\bupdate\s{1,9}["`\w.]{1,100}\s{1,9}set\s{1,9}["`\w.]{1,100}\s{0,9}=[^]*?(?=\n\s*\n|$)/gi,
    marker: SQL,
  },
  { pattern: /\bdelete\s{1,9}from\s{1,9}["`\w.]{1,100}\s{1,9}where\s[^]*?(?=\n\s*\n|$)/gi, marker: SQL },
  { pattern: /\bKey \([^()\n]{1,200}\)=\([^()\n]{0,500}\)/g, marker: SQL },
  {
    pattern: new RegExp(
      String.raw`(?:^|\s)at\s(?:async |new )?[^\s()]{1,200}(?: \[as [^\]\s]{1,80}\])?\s?\((?:${PLACE})\)`,
      'g',
    ),
    marker: ' ',
  },
  { pattern: /(?:^|\s)at\s(?:async )?\S{1,300}:\d{1,7}:\d{1,7}(?=\s|$)/g, marker: ' ' },
  { pattern: /(?:^|\s)at\s(?:async )?\[masked:(?:url|path)\](?::\d{1,7}){0,2}(?=\s|$)/g, marker: ' ' },
  {
    // With the line of source that Python prints below.
    pattern:
      /\bFile\s{1,4}["'][^"'\n]{1,300}["'],\s{1,4}line\s{1,4}\d{1,7}(?:,\s{1,4}in\s{1,4}\S{1,100})?(?:\n {2,40}[^\n]{0,500})?/g,
    marker: ' ',
  },
  { pattern: /Traceback \(most recent call last\):?/g, marker: ' ' },
  { pattern: /\bgoroutine \d{1,9} \[[a-z ]{1,40}\]:?/g, marker: ' ' },
];

/** Rules for the text between markers: paths, addresses, hosts. */
export const PLACE_RULES: readonly ErrorRule[] = [
  {
    pattern: new RegExp(String.raw`(?<![\w./])(?:~|\.{1,2})?(?:\/${SEGMENT}){2,}\/?${LINE_AND_COLUMN}`, 'g'),
    marker: PATH,
  },
  { pattern: /(?<![\w./])~\/[\w.-]{1,200}/g, marker: PATH },
  {
    pattern:
      /(?<![\w./])\/(?:etc|tmp|var|home|root|usr|opt|app|srv|mnt|data|proc|dev|bin|Users|private|workspace)\b\/?/g,
    marker: PATH,
  },
  {
    pattern: new RegExp(
      String.raw`(?<![\w./@-])(?:[\w.@-]{1,100}\/){1,20}[\w.-]{1,100}${EXTENSION}${LINE_AND_COLUMN}`,
      'g',
    ),
    marker: PATH,
  },
  {
    pattern: new RegExp(String.raw`(?<![\w./-])[\w-]{1,100}${EXTENSION}:\d{1,7}(?::\d{1,7})?`, 'g'),
    marker: PATH,
  },
  {
    pattern:
      /(?<![\w:.])(?:[0-9a-f]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]{0,4})(?:%\w{1,20})?(?![\w:])/gi,
    marker: IP,
    applies: isIpv6,
  },
  { pattern: /(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?:\/\d{1,2})?(?::\d{1,5})?(?!\w|\.\d)/g, marker: IP },
  {
    pattern: new RegExp(`${NOT_WITHIN_NAME}${LABEL}{1,10}(?:${TOP_LEVEL_DOMAINS})${PORT_AND_END}`, 'gi'),
    marker: HOST,
  },
  {
    pattern: new RegExp(`${NOT_WITHIN_NAME}${LABEL}{2,10}[a-z]{2,24}${PORT_AND_END}`, 'gi'),
    marker: HOST,
    applies: isHost,
  },
  { pattern: /\blocalhost(?::\d{1,5})?\b/gi, marker: HOST },
  {
    pattern:
      /(?<=\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|dial tcp|lookup)\s)[\w.-]{1,255}(?::\d{1,5})?/g,
    marker: HOST,
  },
  {
    pattern: /(?<=\b(?:host|server|upstream|proxy|to|at|from)\s["']?)[a-z][\w.-]{0,254}:\d{2,5}\b/gi,
    marker: HOST,
  },
];

/** False for "Select a model from the list": SQL names columns, or continues after its table. */
function looksLikeSelect(match: string): boolean {
  const [columns = '', rest = ''] = match.split(/\sfrom\s/i, 2);
  return (
    /["`*(,]|\w\.\w/.test(columns) ||
    /^\s*\S+\s+(?:where|(?:left |inner )?join|order by|group by|limit)\s/i.test(rest)
  );
}

function isIpv6(match: string): boolean {
  return /[0-9a-f]/i.test(match) && (match.includes('::') || match.split(':').length === 8);
}

/** False for "e.g.", for `java.lang.Exception`, and for a field of a request such as `messages.0.content`. */
function isHost(match: string): boolean {
  const labels = match.split('.');
  if (labels.every((label) => FIELDS.has(label.toLowerCase()))) return false;
  if (/^[A-Z][a-z]/.test(labels.at(-1) ?? '')) return false;
  return labels.some((label) => label.length > 1) && !labels.some((label) => /^\d+$/.test(label));
}
