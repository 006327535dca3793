// Whether a file that a vendor made is whole, by its outermost lengths. Callers' images are read part by part
// (`whole-inputs.ts`): those may still be refused, since nothing was paid for them.
import { sniffMediaType } from './media-types.ts';

/** The type of the last chunk of a PNG file, "IEND". */
const IEND = 0x49454e44;

/**
 * Whether a picture ends as its format says it must. JPEG has no reliable end and counts as whole.
 */
export function isWholeResultImage(bytes: Uint8Array): boolean {
  const type = sniffMediaType(bytes);
  if (type === 'image/png') return bytes.length >= 8 && viewOf(bytes).getUint32(bytes.length - 8) === IEND;
  if (type === 'image/webp') return bytes.length >= 8 + viewOf(bytes).getUint32(4, true);
  return type === 'image/jpeg';
}

/**
 * Whether a video has all parts that its beginning promises: every box of an MP4 or QuickTime file
 * ends where the next one or the file does (ISO/IEC 14496-12 §4.2). WebM may be without an end and counts as
 * whole.
 */
export function isWholeResultVideo(bytes: Uint8Array): boolean {
  const type = sniffMediaType(bytes);
  if (type === 'video/webm') return true;
  if (type !== 'video/mp4' && type !== 'video/quicktime') return false;
  const view = viewOf(bytes);
  let at = 0;
  while (at + 8 <= bytes.length) {
    const short = view.getUint32(at);
    if (short === 0) return true; // up to the end of the file
    const isLong = short === 1 && at + 16 <= bytes.length;
    const size = isLong ? Number(view.getBigUint64(at + 8)) : short;
    if (size < (isLong ? 16 : 8)) return false;
    at += size;
  }
  return at === bytes.length;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
