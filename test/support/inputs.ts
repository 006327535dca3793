// Input images for requests.
import { encodePng } from '../../sandbox/png.ts';

/** A PNG of one pixel. */
export const PNG_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const PNG_DATA_URI = `data:image/png;base64,${PNG_BASE64}`;

const FRAME = { width: 512, height: 512, hue: 30, transparent: false };
/** A PNG of a size that every vendor takes. */
export const FRAME_DATA_URI = `data:image/png;base64,${encodePng(FRAME).toString('base64')}`;
