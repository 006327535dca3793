// Files that vendors made: whole, or cut off.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { isWholeResultImage, isWholeResultVideo } from '../../../domain/files/whole-results.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const ftyp = (brand: string): Uint8Array => bytes(`\0\0\0\x20ftyp${brand}\0\0\x02\0isomiso2mp41`);
const webp = (payload: string): Uint8Array =>
  bytes(`RIFF${String.fromCharCode(payload.length + 4)}\0\0\0WEBP${payload}`);
const PNG_HEAD = '\x89PNG\r\n\x1a\n';

describe('a picture', () => {
  it('is whole when it ends as its format says', () => {
    const png = bytes(`${PNG_HEAD}…\0\0\0\0IEND\xae\x42\x60\x82`);
    expect(isWholeResultImage(png)).to.equal(true);
    expect(isWholeResultImage(png.subarray(0, -1))).to.equal(false);
    expect(isWholeResultImage(webp('VP8 data'))).to.equal(true);
    expect(isWholeResultImage(webp('VP8 data').subarray(0, -1))).to.equal(false);
    expect(isWholeResultImage(bytes('\xff\xd8\xff\xe0'))).to.equal(true);
  });

  it('is no video and no page', () => {
    expect(isWholeResultImage(ftyp('isom'))).to.equal(false);
    expect(isWholeResultImage(bytes('<html>'))).to.equal(false);
    expect(isWholeResultImage(bytes(''))).to.equal(false);
  });

  it('is recognised in real files', () => {
    const assets = new URL('../../../sandbox/assets/', import.meta.url);
    expect(isWholeResultImage(readFileSync(new URL('image-1x1.jpg', assets)))).to.equal(true);
    expect(isWholeResultImage(readFileSync(new URL('image-1x1.webp', assets)))).to.equal(true);
  });
});

describe('a video', () => {
  const assets = new URL('../../../sandbox/assets/', import.meta.url);
  const mp4 = readFileSync(new URL('video-16x9.mp4', assets));
  const box = (size: string, rest = ''): Buffer => Buffer.concat([mp4, bytes(`${size}free${rest}`)]);

  it('is whole when every box ends where the next one or the file does', () => {
    expect(isWholeResultVideo(mp4)).to.equal(true);
    expect(isWholeResultVideo(box('\0\0\0\x08'))).to.equal(true);
    expect(isWholeResultVideo(box('\0\0\0\0', 'to the end'))).to.equal(true);
    expect(isWholeResultVideo(box('\0\0\0\x01', '\0\0\0\0\0\0\0\x12ab'))).to.equal(true);
  });

  it('is not whole when a part is missing or too much, or makes no sense', () => {
    for (const length of [mp4.length - 1, mp4.length >> 1, 64, 0])
      expect(isWholeResultVideo(mp4.subarray(0, length)), String(length)).to.equal(false);
    expect(isWholeResultVideo(Buffer.concat([mp4, bytes('x')]))).to.equal(false);
    expect(isWholeResultVideo(box('\0\0\0\x07'))).to.equal(false);
    expect(isWholeResultVideo(box('\0\0\0\x01'))).to.equal(false);
    expect(isWholeResultVideo(box('\0\0\0\x01', '\0\0\0\0\0\0\0\0'))).to.equal(false);
  });

  it('is no picture and no page, and without an end when it is WebM', () => {
    expect(isWholeResultVideo(bytes('<html>'))).to.equal(false);
    expect(isWholeResultVideo(bytes('\xff\xd8\xff\xe0'))).to.equal(false);
    expect(isWholeResultVideo(bytes('\x1a\x45\xdf\xa3\x01\x42\x82\x84webm'))).to.equal(true);
  });
});
