// Media types: recognized by the first bytes of a file, and refused where the rest does not fit them.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { fileExtensionOf, sniffMediaType } from '../../../domain/files/media-types.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const ftyp = (brand: string): Uint8Array => bytes(`\0\0\0\x20ftyp${brand}\0\0\x02\0isomiso2mp41`);
const ebml = (docType: string): Uint8Array =>
  bytes(
    `\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81\x01\x42\x82${String.fromCharCode(0x80 + docType.length)}${docType}`,
  );
const webp = (payload: string): Uint8Array =>
  bytes(`RIFF${String.fromCharCode(payload.length + 4)}\0\0\0WEBP${payload}`);
const PNG_HEAD = '\x89PNG\r\n\x1a\n';

describe('the type of a file', () => {
  const known: [string, Uint8Array, string, string][] = [
    ['PNG', bytes(`${PNG_HEAD}\0\0\0\rIHDR`), 'image/png', 'png'],
    ['JPEG', bytes('\xff\xd8\xff\xe0\0\x10JFIF'), 'image/jpeg', 'jpg'],
    ['WebP', webp('VP8 '), 'image/webp', 'webp'],
    ['MP4', ftyp('isom'), 'video/mp4', 'mp4'],
    ['MP4 of version 2', ftyp('mp42'), 'video/mp4', 'mp4'],
    ['MP4 by Apple', ftyp('M4V '), 'video/mp4', 'mp4'],
    ['QuickTime', ftyp('qt  '), 'video/quicktime', 'mov'],
    ['WebM', ebml('webm'), 'video/webm', 'webm'],
  ];
  for (const [title, head, type, extension] of known) {
    it(`is ${type} for ${title}`, () => {
      const found = sniffMediaType(head);
      expect(found).to.equal(type);
      expect(found && fileExtensionOf(found)).to.equal(extension);
    });
  }

  const unknown: Record<string, Uint8Array> = {
    nothing: bytes(''),
    'three bytes': bytes('\x89PN'),
    HTML: bytes('<!doctype html><html>'),
    SVG: bytes('<svg xmlns="http://www.w3.org/2000/svg">'),
    'a ZIP': bytes('PK\x03\x04'),
    'a program': bytes('MZ\x90\0'),
    'a GIF': bytes('GIF89a'),
    'HEIC, which is ftyp too': ftyp('heic'),
    'AVIF, which is ftyp too': ftyp('avif'),
    'sound in ftyp': ftyp('M4A '),
    Matroska: ebml('matroska'),
    'EBML that says webm elsewhere': bytes('\x1a\x45\xdf\xa3\x9fwebm'),
    'a WAV file': bytes('RIFF\x04\0\0\0WAVE'),
    'ASF, whose loops broke other parsers': bytes('\x30\x26\xb2\x75\x8e\x66\xcf\x11'),
    'a PNG behind one more byte': bytes(` ${PNG_HEAD}`),
  };
  for (const [title, head] of Object.entries(unknown)) {
    it(`is not known for ${title}`, () => expect(sniffMediaType(head)).to.equal(null));
  }

  it('is recognised in a real file', () => {
    const video = new URL('../../../sandbox/assets/video-16x9.mp4', import.meta.url);
    expect(sniffMediaType(readFileSync(video))).to.equal('video/mp4');
  });
});
