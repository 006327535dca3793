// How many pixels an image of a caller has, by the header of its data URI; of the rest nothing is decoded.
import { sniffMediaType } from './media-types.ts';

export interface ImageSize {
  width: number;
  height: number;
}

const DATA_URI_START = /^data:image\/[a-z.+-]+;base64,/i;
/** The comma comes within so many: a later one would have to be looked for in all of a text. */
const DATA_URI_START_CHARACTERS_MAX = 40;
/** The smallest image that tells its size: a WebP image whose first chunk is a lossy frame. */
const HEAD_BYTES_MIN = 30;
/** Decoded at once: far more than a marker, so that many small segments are decoded once together. */
const WINDOW_BYTES = 4_096;
/** Looked at up to the frame, in 2 ms at most: more than the 320 segments of 64 KiB that fit into 20 MiB. */
const JPEG_MARKERS_MAX = 1_000;
/** A marker, and of a frame: length, precision, height and width. */
const JPEG_LOOKED_AT_BYTES = 9;
/** Start of frame, of whatever coding, but for tables and an extension in between (ITU-T T.81 §B.1.1.3). */
const JPEG_FRAMES = new Set([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);
const JPEG_START_OF_SCAN = 0xda;
const JPEG_END = 0xd9;

/**
 * Size in pixels of a PNG, JPEG or WebP image in a data URI of base64. Null for anything else, also for a
 * data URI with parameters, and for a header that does not tell. That the rest is whole is for others to
 * check.
 */
export function sizeOfDataUri(uri: string): ImageSize | null {
  const [start] = DATA_URI_START.exec(uri.slice(0, DATA_URI_START_CHARACTERS_MAX)) ?? [];
  if (start === undefined) return null;
  const read: WindowReader = (from) => readWindow(uri, start.length, from);
  const head = read(0);
  const size = head.length < HEAD_BYTES_MIN ? null : sizeOf(head, read);
  return size !== null && size.width > 0 && size.height > 0 ? size : null;
}

/** Decodes some bytes of the file from this one on: fewer at its end, none behind it. */
type WindowReader = (from: number) => Buffer;

/** Reads a window of the file whose base64 begins at `dataAt` in the URI. */
function readWindow(uri: string, dataAt: number, from: number): Buffer {
  const skipped = from % 3; // four characters are three bytes
  const begin = dataAt + ((from - skipped) / 3) * 4;
  const characters = Math.ceil((skipped + WINDOW_BYTES) / 3) * 4;
  return Buffer.from(uri.slice(begin, begin + characters), 'base64').subarray(skipped);
}

function sizeOf(head: Buffer, read: WindowReader): ImageSize | null {
  switch (sniffMediaType(head)) {
    case 'image/png':
      // IHDR comes first (PNG, third edition, §11.2.1).
      return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
    case 'image/webp':
      return sizeOfWebp(head);
    case 'image/jpeg':
      return sizeOfJpeg(head, read);
    default:
      return null;
  }
}

/** The first chunk tells: RFC 9649 §2.5 to §2.7, and RFC 6386 §9.1 for the frame of a lossy image. */
function sizeOfWebp(head: Buffer): ImageSize | null {
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      const sides = head.readUInt32LE(21); // 14 bits each
      return { width: (sides & 0x3fff) + 1, height: ((sides >> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
    default:
      return null;
  }
}

/** Goes from marker to marker up to the frame. A thumbnail is inside a segment, which is passed over. */
function sizeOfJpeg(head: Buffer, read: WindowReader): ImageSize | null {
  let bytes = head;
  let windowAt = 0;
  let at = 2;
  for (let looked = 0; looked < JPEG_MARKERS_MAX; looked += 1) {
    if (at - windowAt + JPEG_LOOKED_AT_BYTES > bytes.length) {
      bytes = read(at);
      windowAt = at;
    }
    const here = at - windowAt;
    if (here + JPEG_LOOKED_AT_BYTES > bytes.length || bytes[here] !== 0xff) return null;
    const marker = bytes[here + 1] ?? 0;
    if (JPEG_FRAMES.has(marker))
      return { width: bytes.readUInt16BE(here + 7), height: bytes.readUInt16BE(here + 5) };
    if (marker === JPEG_START_OF_SCAN || marker === JPEG_END) return null;
    if (marker === 0xff) at += 1; // a fill byte
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else at += 2 + bytes.readUInt16BE(here + 2);
  }
  return null;
}
