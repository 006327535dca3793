// File names as they are shown: without a path, without invisible characters, not too long.
import { expect } from 'chai';
import { cleanFileName } from '../../../domain/files/file-names.ts';

describe('a file name', () => {
  const names: [given: string, shown: string][] = [
    ['waves.mp4', 'waves.mp4'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\a.mp4', 'a.mp4'],
    ['a\r\nb\0.mp4', 'ab.mp4'],
    ['a\u202e4pm.exe', 'a4pm.exe'],
    ['  a.mp4  ', 'a.mp4'],
    ['\ud800a.mp4', '\ufffda.mp4'],
    ['', 'file'],
    ['/', 'file'],
    ['..', 'file'],
    ['👩‍🎬.mp4', '👩‍🎬.mp4'],
  ];
  for (const [given, shown] of names)
    it(`${JSON.stringify(given)} is shown as ${JSON.stringify(shown)}`, () => {
      expect(cleanFileName(given)).to.equal(shown);
    });

  it('has at most 255 bytes, cut between two characters, and keeps a short extension', () => {
    for (const [given, extension] of [
      [`${'a'.repeat(300)}.mp4`, '.mp4'],
      [`${'猫'.repeat(300)}.mp4`, '.mp4'],
      ['🐱'.repeat(300), ''],
      [`a.${'x'.repeat(300)}`, ''],
    ] as const) {
      const shown = cleanFileName(given);
      expect(Buffer.byteLength(shown)).to.be.within(250, 255);
      expect(shown.isWellFormed() && shown.endsWith(extension)).to.equal(true);
    }
  });
});
