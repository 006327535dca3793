// The type of a file by its first bytes alone: declared types and file names prove nothing.

export const MEDIA_TYPES = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'video/webm': 'webm',
} as const;
export type MediaType = keyof typeof MEDIA_TYPES;
export type VideoType = Extract<MediaType, `video/${string}`>;

/** So many bytes of the beginning are enough for every type. */
export const SNIFF_BYTES = 64;

/** Major brands of ISO base media files (ISO/IEC 14496-12 §4.3) that hold a video players can play. */
const MP4_BRANDS = new Set(
  'isom iso2 iso3 iso4 iso5 iso6 iso7 iso8 iso9 mp41 mp42 mp71 avc1 hvc1 hev1 av01 dash mmp4 M4V M4VH M4VP MSNV F4V'.split(
    ' ',
  ),
);

/** The type of a file that begins with `head`, or null when it is not one of `MEDIA_TYPES`. */
export function sniffMediaType(head: Uint8Array): MediaType | null {
  if (startsWith(head, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'image/png';
  if (startsWith(head, [0xff, 0xd8, 0xff])) return 'image/jpeg';
  if (textAt(head, 0, 4) === 'RIFF' && textAt(head, 8, 4) === 'WEBP') return 'image/webp';
  if (textAt(head, 4, 4) === 'ftyp') return sniffBrand(textAt(head, 8, 4));
  if (startsWith(head, [0x1a, 0x45, 0xdf, 0xa3]) && holdsDocType(head, 'webm')) return 'video/webm';
  return null;
}

export function isVideoType(type: MediaType): type is VideoType {
  return type.startsWith('video/');
}

/** The extension of a file's name, without a dot. */
export function fileExtensionOf(type: MediaType): string {
  return MEDIA_TYPES[type];
}

function sniffBrand(brand: string): MediaType | null {
  if (brand === 'qt  ') return 'video/quicktime';
  return MP4_BRANDS.has(brand.trimEnd()) ? 'video/mp4' : null;
}

/** Looks for the EBML element DocType (id 0x4282) with exactly this value (RFC 8794 §11.2.4). */
function holdsDocType(head: Uint8Array, docType: string): boolean {
  const header = head.subarray(0, SNIFF_BYTES);
  for (let at = 4; at + 3 + docType.length <= header.length; at += 1) {
    const isDocType =
      header[at] === 0x42 && header[at + 1] === 0x82 && header[at + 2] === 0x80 + docType.length;
    if (isDocType) return textAt(header, at + 3, docType.length) === docType;
  }
  return false;
}

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((value, index) => bytes[index] === value);
}

function textAt(bytes: Uint8Array, from: number, length: number): string {
  if (from < 0) return '';
  return String.fromCharCode(...bytes.subarray(from, from + length));
}
