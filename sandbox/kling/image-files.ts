// What Kling demands of input images, as its page on image to video says.

import type { ImageFileLimits } from '../image-files.ts';

export const IMAGE_FILES: ImageFileLimits = {
  formats: ['jpeg', 'png'],
  bytesMax: 10_000_000,
  sidePixelsMin: 300,
  sidesRatioMax: 2.5,
};
