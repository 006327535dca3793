// Counts the values and the depth of a JSON text while its bytes arrive, before anything of it is built.

/** The deepest nesting of objects and lists, the body itself included. */
const DEPTH_MAX = 32;
/**
 * Most fields and entries of a body, all levels together: each costs time in every later step, however
 * short it is. Fields count twice, as their names cost as much again.
 */
const VALUES_MAX = 100_000;
/** Most fields of the body itself, which is copied several times on its way to a vendor. */
const FIELDS_MAX = 1_000;

/** Those of a request, and of what a vendor answers a worker. */
const USUAL_BOUNDS: JsonBounds = { depthMax: DEPTH_MAX, valuesMax: VALUES_MAX, fieldsMax: FIELDS_MAX };

export interface JsonBounds {
  depthMax: number;
  valuesMax: number;
  fieldsMax: number;
}

type JsonScan = (chunk: Buffer) => string | null;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** What may stand between values; other bytes above it are values or structure. */
const SPACE = 0x20;
/** Bytes of a text that are looked at one by one; the rest of a longer one is searched for its end. */
const SHORT_TEXT_BYTES = 64;

/**
 * Returns a function that is given the bytes in order, in chunks of any length. It answers null, or what is
 * too much, as a sentence for the caller. Whether the text is JSON at all is left to the parser. Takes time
 * linear in the length.
 */
export function createJsonScan({ depthMax, valuesMax, fieldsMax }: JsonBounds = USUAL_BOUNDS): JsonScan {
  let depth = 0;
  let values = 0;
  let fields = 0;
  let isText = false;
  let isEscaped = false;
  let isJustOpened = false;

  /** Reads on within a text; returns the position after it, or the end of the chunk. */
  function readText(chunk: Buffer, from: number): number {
    const shortEnd = Math.min(from + SHORT_TEXT_BYTES, chunk.length);
    let position = from;
    for (; position < shortEnd; position += 1) {
      const byte = chunk[position];
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) {
        isText = false;
        return position + 1;
      }
    }
    if (isEscaped || position === chunk.length) return position;
    const quote = chunk.indexOf(QUOTE, position);
    const end = quote === -1 ? chunk.length : quote;
    isEscaped = backslashesBefore(chunk, end, position) % 2 === 1;
    if (quote === -1) return end;
    isText = isEscaped;
    isEscaped = false;
    return end + 1;
  }

  function readStructure(byte: number): void {
    const isOpening = byte === 0x7b || byte === 0x5b;
    const isClosing = byte === 0x7d || byte === 0x5d;
    // The first entry of an object or list has no comma before it.
    if (isJustOpened && !isClosing) values += 1;
    isJustOpened = isOpening;
    if (isOpening) depth += 1;
    else if (isClosing) depth -= 1;
    else if (byte === QUOTE) isText = true;
    else if (byte === COMMA || byte === COLON) values += 1;
    if (byte === COLON && depth === 1) fields += 1;
  }

  return (chunk) => {
    const { length } = chunk;
    for (let position = 0; position < length;) {
      while (isText && position < length) position = readText(chunk, position);
      let byte = SPACE;
      for (; byte <= SPACE && position < length; position += 1) byte = chunk[position] ?? 0;
      if (byte <= SPACE) break; // there was nothing but space, or the rest of a text
      readStructure(byte);
      if (depth > depthMax || fields > fieldsMax || values > valuesMax)
        return excess({ depthMax, valuesMax, fieldsMax }, depth, fields);
    }
    return null;
  };
}

function excess({ depthMax, valuesMax, fieldsMax }: JsonBounds, depth: number, fields: number): string {
  if (depth > depthMax) return `The body is nested deeper than ${depthMax} levels.`;
  const most = fields > fieldsMax ? `${fieldsMax} fields` : `${valuesMax} values`;
  return `The body holds more than ${most}.`;
}

function backslashesBefore(chunk: Buffer, end: number, from: number): number {
  let start = end;
  while (start > from && chunk[start - 1] === BACKSLASH) start -= 1;
  return end - start;
}
