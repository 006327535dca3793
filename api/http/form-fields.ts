// Reads a whole multipart form into the object that JSON would be: texts, lists, objects, pictures as data
// URIs.
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { finished } from 'node:stream/promises';
import busboy from 'busboy';
import { GatewayError } from '../../domain/errors.ts';
import { createJsonScan } from '../../domain/json-scan.ts';
import { sniffMediaType, SNIFF_BYTES } from '../../domain/files/media-types.ts';

/** A field, an entry of a list (`image[]`), or a member of an object (`metadata[seed]`), at any depth. */
const FIELD_NAME = /^([A-Za-z_][A-Za-z0-9_]{0,63})((?:\[(?:[A-Za-z_][A-Za-z0-9_]{0,63}|\d{0,3})\])*)$/;
/** A place in brackets that is an entry of a list. */
const ENTRY = /^\d*$/;
/** The lists and objects that forms write with brackets stay small. */
const LIMITS = {
  files: 20,
  fields: 100,
  parts: 120,
  fieldSize: 1024 * 1024,
  fieldNameSize: 200,
  headerPairs: 50,
};
/** The type of parts that hold an object, as OpenAPI's tools write them. */
const JSON_TYPE = 'application/json';
/** What a decoder writes for bytes that its encoding does not have. */
const REPLACEMENT = '\ufffd';
const BOUNDARY_CHARACTERS_MAX = 70; // RFC 2046 §5.1.1

/** Whether a body says that it is a form. */
export function isForm(headers: IncomingHttpHeaders): boolean {
  return /^multipart\/form-data *(;|$)/i.test(headers['content-type'] ?? '');
}

/** Throws 400 unless the content type of a form names one boundary. */
export function requireBoundary(type: string): void {
  const boundaries = [...type.matchAll(/boundary *= *("[^"]*"|[^;]*)/gi)].map(([, text = '']) =>
    text.replaceAll('"', ''),
  );
  const [boundary = ''] = boundaries;
  if (boundaries.length === 1 && boundary.trim() !== '' && boundary.length <= BOUNDARY_CHARACTERS_MAX) return;
  const message = `The content type must name one boundary of 1 to ${BOUNDARY_CHARACTERS_MAX} characters.`;
  throw new GatewayError('invalid_multipart', { message });
}

/**
 * Parses a form that has arrived as a whole. A part that says that it is JSON becomes its value, another one
 * with a file a data URI of the type that its bytes show. Throws a GatewayError: 400 for a broken form or
 * part, for a text that is not UTF-8, for too many of them, and for a file that is no picture.
 */
export async function parseForm(
  headers: IncomingHttpHeaders,
  body: Buffer,
): Promise<Record<string, unknown>> {
  requireBoundary(headers['content-type'] ?? '');
  const fields = new Map<string, unknown>();
  const parser = createParser(headers);
  const refuse = (error: GatewayError): void => void parser.destroy(error);
  const readJson = createJsonReader();
  const readText = createTextReader(body);
  const add = (name: string | undefined, value: unknown): void => {
    const error = value instanceof GatewayError ? value : addField(fields, name ?? '', value);
    if (error) refuse(error);
  };
  parser.on('error', () => undefined); // a second error has no listener and would end the process
  for (const event of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const)
    parser.on(event, () => refuse(tooManyParts()));
  parser.on('field', (name: string | undefined, value, { valueTruncated: isCut, mimeType }) => {
    if (isCut) return refuse(new GatewayError('payload_too_large'));
    const text = readText(name ?? '', value);
    const isJson = mimeType === JSON_TYPE && typeof text === 'string';
    add(name, isJson ? readJson(name ?? '', Buffer.from(text)) : text);
  });
  parser.on('file', (name: string | undefined, file, { mimeType }) => {
    const chunks: Buffer[] = [];
    file.on('error', () => undefined); // the form's own error says why
    file.on('data', (chunk: Buffer) => void chunks.push(chunk));
    file.once('end', () => {
      const bytes = Buffer.concat(chunks);
      add(name, mimeType === JSON_TYPE ? readJson(name ?? '', bytes) : writeDataUri(name ?? '', bytes));
    });
  });
  try {
    const whole = finished(parser);
    parser.end(body);
    await whole;
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : new GatewayError('invalid_multipart', { cause });
  }
  return Object.fromEntries(fields);
}

function createParser(headers: IncomingHttpHeaders): busboy.Busboy {
  try {
    return busboy({ headers, limits: LIMITS, defParamCharset: 'utf8' });
  } catch (cause) {
    throw new GatewayError('invalid_multipart', { cause });
  }
}

/** Returns what refuses texts in another encoding than they should have: `value` has lost their bytes. */
function createTextReader(body: Buffer): (name: string, value: string) => string | GatewayError {
  let isSent: boolean | undefined;
  return (name, value) => {
    if (!value.includes(REPLACEMENT) || (isSent ??= body.includes(REPLACEMENT))) return value;
    const message = 'A text of the form is not UTF-8.';
    return new GatewayError('invalid_multipart', { param: FIELD_NAME.exec(name)?.[1] ?? null, message });
  };
}

/** Returns what reads the JSON parts of one form, which are counted together as one body would be. */
function createJsonReader(): (name: string, bytes: Buffer) => unknown {
  const scan = createJsonScan();
  let allBytes = 0;
  return (name, bytes) => {
    allBytes += bytes.length;
    if (allBytes > LIMITS.fieldSize) return new GatewayError('payload_too_large');
    const excess = scan(bytes);
    if (excess !== null) return new GatewayError('invalid_request', { message: excess });
    try {
      if (isUtf8(bytes)) return JSON.parse(bytes.toString('utf8')) as unknown;
    } catch {
      // The parser's own error quotes the input.
    }
    return new GatewayError('invalid_json', { param: FIELD_NAME.exec(name)?.[1] ?? null });
  };
}

/** Adds a part under its name. A name that stands twice becomes a list. Returns what is wrong, or null. */
function addField(fields: Map<string, unknown>, written: string, value: unknown): GatewayError | null {
  const [, name, brackets = ''] = FIELD_NAME.exec(written) ?? [];
  if (name === undefined) return null; // nothing that is read has such a name
  const path = brackets === '' ? [] : brackets.slice(1, -1).split('][');
  const placed = place(fields.get(name), path, value);
  if (placed !== undefined) fields.set(name, placed);
  else return new GatewayError('invalid_value', { param: name, message: `${name} is a text and an object.` });
  return null;
}

/**
 * What is known of a field, with a value at this path inside; undefined where that is in a text or a list.
 * A list of objects is none here: its numbers become names, and its field refuses them.
 */
function place(known: unknown, [first, ...rest]: readonly string[], value: unknown): unknown {
  if (first === undefined) return known === undefined ? value : [...listOf(known), value];
  if (rest.length === 0 && ENTRY.test(first)) return [...listOf(known ?? []), value];
  if (known !== undefined && !isMembers(known)) return undefined;
  const inside = place(known && Object.hasOwn(known, first) ? known[first] : undefined, rest, value);
  return inside === undefined ? undefined : { ...known, [first]: inside };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

function isMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function writeDataUri(name: string, bytes: Buffer): string | GatewayError {
  const param = FIELD_NAME.exec(name)?.[1] ?? null;
  if (bytes.length === 0) return new GatewayError('empty_file', { param });
  const type = sniffMediaType(bytes.subarray(0, SNIFF_BYTES));
  if (!type?.startsWith('image/')) {
    const message = 'A file of this form must be a PNG, JPEG or WebP image.';
    return new GatewayError('invalid_image', { param, message });
  }
  return `data:${type};base64,${bytes.toString('base64')}`;
}

function tooManyParts(): GatewayError {
  const message = `The form may hold at most ${LIMITS.files} files and ${LIMITS.fields} fields.`;
  return new GatewayError('too_many_parts', { message });
}
