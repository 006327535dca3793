// Encodes small PNG files of given proportions.

import { crc32, deflateSync } from 'node:zlib';

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Degrees, 0 to 359; makes pictures easy to tell apart. */
  readonly hue: number;
  readonly transparent: boolean;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BYTES_PER_PIXEL = 4;

export function encodePng(picture: Picture): Buffer {
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header(picture)),
    chunk('IDAT', deflateSync(pixels(picture), { level: 6 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function header({ width, height }: Picture): Buffer {
  const bytes = Buffer.alloc(13);
  bytes.writeUInt32BE(width, 0);
  bytes.writeUInt32BE(height, 4);
  // Eight bits per channel; red, green, blue, alpha; the one compression and filter there are; not
  // interlaced.
  bytes.set([8, 6, 0, 0, 0], 8);
  return bytes;
}

/** A vertical gradient in one hue; every row begins with the filter byte 0 (none). */
function pixels({ width, height, hue, transparent }: Picture): Buffer {
  const rowBytes = 1 + width * BYTES_PER_PIXEL;
  const bytes = Buffer.alloc(rowBytes * height);
  for (let row = 0; row < height; row += 1) {
    const brightness = 0.35 + (0.6 * row) / height;
    const alpha = transparent && row < height / 4 ? 0 : 255;
    const pixel = Buffer.from([...colour(hue, brightness), alpha]);
    bytes.fill(pixel, row * rowBytes + 1, (row + 1) * rowBytes);
  }
  return bytes;
}

function colour(hue: number, brightness: number): number[] {
  return [0, 120, 240].map((centre) => {
    const distance = Math.abs(((hue - centre + 540) % 360) - 180);
    return Math.round(255 * brightness * (1 - (0.8 * distance) / 180));
  });
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const bytes = Buffer.alloc(typed.length + 8);
  bytes.writeUInt32BE(data.length, 0);
  typed.copy(bytes, 4);
  bytes.writeUInt32BE(crc32(typed), typed.length + 4);
  return bytes;
}
