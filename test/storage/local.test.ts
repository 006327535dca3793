// Storage on a local disk: whole files or none, whatever breaks.
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { INCOMING_FOLDER } from '../../storage/folder.ts';
import { createStorage, StorageUnavailable, type Storage } from '../../storage/storage.ts';

const PNG = { contentType: 'image/png' };

describe('storage on a local disk', () => {
  let folder: string;
  let storage: Storage;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'storage-'));
    storage = createStorage({ kind: 'local', folder });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Every file below the folder, unfinished ones included. */
  async function files(): Promise<string[]> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  }

  async function textOf(key: string): Promise<string | null> {
    const file = await storage.read(key);
    return file && String(await buffer(file.stream));
  }

  it('gives back what was written, with its size', async () => {
    expect(await storage.write('results/task_1/1/0.png', Readable.from(['pic', 'ture']), PNG)).to.deep.equal({
      bytes: 7,
    });
    const file = await storage.read('results/task_1/1/0.png');
    expect(file?.bytes).to.equal(7);
    expect(file && String(await buffer(file.stream))).to.equal('picture');
  });

  it('keeps an empty file', async () => {
    expect(await storage.write('empty', Readable.from([]), PNG)).to.deep.equal({ bytes: 0 });
    expect(await textOf('empty')).to.equal('');
  });

  it('replaces what was there, and nothing before the new file is complete', async () => {
    await storage.write('a', Readable.from(['old']), PNG);
    const seen: (string | null)[] = [];
    async function* slowly(): AsyncGenerator<string> {
      yield 'new';
      seen.push(await textOf('a'));
      yield 'er';
    }
    await storage.write('a', Readable.from(slowly()), PNG);
    expect([...seen, await textOf('a')]).to.deep.equal(['old', 'newer']);
  });

  it('has nothing under a key that was never written, or is a part of a path', async () => {
    await storage.write('a/b', Readable.from(['x']), PNG);
    expect(await storage.read('nothing')).to.equal(null);
    expect(await storage.read('a/b/c')).to.equal(null);
  });

  it('deletes, also what is not there', async () => {
    await storage.write('a', Readable.from(['x']), PNG);
    await storage.delete('a');
    await storage.delete('a');
    expect(await storage.read('a')).to.equal(null);
  });

  it('leaves nothing behind when the stream fails, and says what failed', async () => {
    const trouble = new Error('the vendor hung up');
    async function* broken(): AsyncGenerator<string> {
      yield 'half';
      throw trouble;
    }
    const error: unknown = await storage.write('a', Readable.from(broken()), PNG).catch((e: unknown) => e);
    expect(error).to.equal(trouble);
    expect(await files()).to.deep.equal([]);
  });

  it('is unavailable when the disk refuses, leaves nothing behind, and lets go of the stream', async () => {
    await writeFile(join(folder, 'blocked'), '');
    const stream = Readable.from(['x']);
    const error: unknown = await storage.write('blocked/a', stream, PNG).catch((e: unknown) => e);
    expect(error).to.be.instanceOf(StorageUnavailable);
    expect(stream.destroyed).to.equal(true);
    expect(await files()).to.deep.equal(['blocked']);
  });

  it('gives back parts, and sizes', async () => {
    await storage.write('a/b', Readable.from(['0123456789']), PNG);
    const part = await storage.readPart('a/b', { first: 2, last: 4 });
    expect(part && String(await buffer(part))).to.equal('234');
    expect(await storage.size('a/b')).to.equal(10);
    expect(await storage.size('a/c')).to.equal(null);
    expect(await storage.readPart('a/c', { first: 0, last: 1 })).to.equal(null);
  });

  it('lists the files of a folder, and nothing for one that is not there', async () => {
    for (const key of ['uploads/a.mp4', 'uploads/b/c.mp4', 'results/d.png'])
      await storage.write(key, Readable.from(['x']), PNG);
    expect(await Readable.from(storage.list('uploads')).toArray()).to.have.members([
      'uploads/a.mp4',
      'uploads/b/c.mp4',
    ]);
    expect(await Readable.from(storage.list('nothing')).toArray()).to.deep.equal([]);
  });

  it('removes what was left unfinished before a moment, and nothing younger', async () => {
    await storage.removeUnfinished(new Date()); // there is no such folder yet
    const incoming = join(folder, INCOMING_FOLDER);
    await mkdir(incoming);
    await writeFile(join(incoming, 'old.part'), 'x');
    await utimes(join(incoming, 'old.part'), 1, 1);
    await writeFile(join(incoming, 'young.part'), 'x');
    await storage.removeUnfinished(new Date(Date.now() - 60_000));
    expect(await files()).to.deep.equal(['young.part']);
  });

  for (const key of ['../outside', 'a/../../outside', '/../outside', '..\\outside', 'a\0b', '']) {
    it(`refuses the key ${JSON.stringify(key)}`, async () => {
      const error: unknown = await storage.write(key, Readable.from(['x']), PNG).catch((e: unknown) => e);
      expect(error).to.be.instanceOf(Error).and.not.instanceOf(StorageUnavailable);
      expect(await files()).to.deep.equal([]);
    });
  }

  it('lets two writers of one key not disturb each other', async () => {
    const write = (letter: string): Promise<unknown> =>
      storage.write('a', Readable.from(Array.from({ length: 50 }, () => letter)), PNG);
    await Promise.all([write('x'), write('y')]);
    expect(await textOf('a')).to.match(/^(x{50}|y{50})$/);
    expect(await files()).to.deep.equal(['a']);
  });
});
