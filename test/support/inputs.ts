// Input images for requests.
import { encodePng } from '../../sandbox/png.ts';

/** A PNG of one pixel. */
export const PNG_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const PNG_DATA_URI = `data:image/png;base64,${PNG_BASE64}`;

const FRAME = { width: 512, height: 512, hue: 30, transparent: false };
/** A PNG of a size that every vendor takes. */
export const FRAME_DATA_URI = `data:image/png;base64,${encodePng(FRAME).toString('base64')}`;

/** A PNG that says in its header that it has this size; its pixels are those of another one. */
export function pngOfSize(width: number, height: number): string {
  const bytes = Buffer.from(PNG_BASE64, 'base64');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return `data:image/png;base64,${bytes.toString('base64')}`;
}
