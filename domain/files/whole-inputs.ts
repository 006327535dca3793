// Whether an input image of a caller is whole: read part by part, to the end that its format demands. Results
// of vendors are looked at less closely (`whole-results.ts`).
import { sniffMediaType } from './media-types.ts';

const PNG_SIGNATURE_BYTES = 8;
/** Length, type and checksum of a chunk. */
const PNG_CHUNK_BYTES = 12;
const IEND = 0x49454e44;
const JPEG_START_OF_SCAN = 0xda;
const JPEG_END = 0xd9;
/** How far the next 0xff is looked for byte by byte: cameras write one in each 256 bytes or so. */
const LOOKED_AT_BYTES = 16;

/**
 * Whether the bytes hold a PNG, JPEG or WebP image up to its end; what stands behind the end is ignored, as
 * cameras put more there. The pixels are not looked at. Takes time linear in the length.
 */
export function isWholeInputImage(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (sniffMediaType(bytes)) {
    case 'image/png':
      return hasPngEnd(view);
    case 'image/jpeg':
      return hasJpegEnd(bytes, view);
    case 'image/webp':
      // RIFF: the size of all that follows it.
      return view.byteLength >= 8 + view.getUint32(4, true);
    default:
      return false;
  }
}

/** Goes from chunk to chunk up to IEND (PNG, third edition, §5.3). */
function hasPngEnd(view: DataView): boolean {
  let at = PNG_SIGNATURE_BYTES;
  while (at + PNG_CHUNK_BYTES <= view.byteLength) {
    const end = at + PNG_CHUNK_BYTES + view.getUint32(at);
    if (end > view.byteLength) return false;
    if (view.getUint32(at + 4) === IEND) return true;
    at = end;
  }
  return false;
}

/**
 * Goes from marker to marker, and through the entropy-coded data behind each start of scan, up to the end of
 * the image (ITU-T T.81 §B.1.1). Thumbnails inside a segment have an end of their own, which is passed
 * over.
 */
function hasJpegEnd(bytes: Uint8Array, view: DataView): boolean {
  let at = 2;
  while (at + 2 <= bytes.length) {
    if (bytes[at] !== 0xff) return false;
    const marker = bytes[at + 1] ?? 0;
    if (marker === JPEG_END) return true;
    if (marker === 0xff) at += 1; // a fill byte
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else {
      if (at + 4 > bytes.length) return false;
      at += 2 + Math.max(2, view.getUint16(at + 2));
      if (marker === JPEG_START_OF_SCAN) at = endOfScan(bytes, at);
    }
  }
  return false;
}

/** The next marker: a byte 0xff in the data is followed by zero, and restart markers belong to the data. */
function endOfScan(bytes: Uint8Array, from: number): number {
  for (let at = nextFill(bytes, from); at + 1 < bytes.length; at = nextFill(bytes, at + 2)) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at;
  }
  return bytes.length;
}

/**
 * Where the next byte 0xff stands; the length if there is none. Looks at some bytes itself first: a call of
 * `indexOf` costs more than that, and an image may be made of nothing but 0xff and zero.
 */
function nextFill(bytes: Uint8Array, from: number): number {
  const stop = Math.min(bytes.length, from + LOOKED_AT_BYTES);
  for (let at = from; at < stop; at += 1) if (bytes[at] === 0xff) return at;
  const found = bytes.indexOf(0xff, stop);
  return found === -1 ? bytes.length : found;
}
