// Files in a folder of a local disk: one appears under its name only when it is complete and synced to the
// disk.
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import type { Backend, ByteRange, StoredFile } from './backend.ts';

/**
 * Unfinished files, in the same file system as the finished ones. A crash may leave some here, nowhere else.
 */
export const INCOMING_FOLDER = '.incoming';

export function createFolder(root: string): Backend {
  return {
    write: (key, source) => writeFile(root, key, source),
    read: (key) => readFile(join(root, key)),
    readPart: (key, range) => readPart(join(root, key), range),
    size: async (key) => (await stat(join(root, key))).size,
    list: (folder) => listFiles(root, folder),
    delete: (key) => unlink(join(root, key)),
    removeUnfinished: (before) => removeUnfinished(join(root, INCOMING_FOLDER), before),
  };
}

/** Writes, syncs, and moves into place. */
async function writeFile(root: string, key: string, source: AsyncIterable<Uint8Array>): Promise<void> {
  const target = join(root, key);
  const incoming = join(root, INCOMING_FOLDER, `${randomUUID()}.part`);
  await mkdir(dirname(incoming), { recursive: true });
  await mkdir(dirname(target), { recursive: true });
  try {
    await withFile(incoming, 'wx', async (file) => {
      for await (const chunk of source) await file.appendFile(chunk);
      await file.sync();
    });
    await rename(incoming, target);
  } catch (error) {
    // The first error is the one to report; what cannot be removed now is removed with the unfinished files.
    await unlink(incoming).catch(() => undefined);
    throw error;
  }
  // The new name itself has to survive a power failure too.
  await withFile(dirname(target), 'r', (directory) => directory.sync());
}

async function readFile(path: string): Promise<StoredFile> {
  const file = await open(path, 'r');
  try {
    return { bytes: (await file.stat()).size, stream: file.createReadStream() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function readPart(path: string, { first, last }: ByteRange): Promise<Readable> {
  const file = await open(path, 'r');
  return file.createReadStream({ start: first, end: last });
}

async function* listFiles(root: string, folder: string): AsyncGenerator<string> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  for (const entry of entries)
    if (entry.isFile()) yield relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, '/');
}

/** Removes unfinished files that were not written to since. */
async function removeUnfinished(incoming: string, before: Date): Promise<void> {
  const names = await readdir(incoming).catch(unlessMissing([]));
  for (const name of names) {
    const path = join(incoming, name);
    const { mtime } = await stat(path).catch(unlessMissing({ mtime: before }));
    if (mtime < before) await unlink(path).catch(unlessMissing(undefined));
  }
}

/** Another process may have removed or finished the file in the meantime. */
function unlessMissing<Fallback>(fallback: Fallback): (error: unknown) => Fallback {
  return (error) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return fallback;
    throw error;
  };
}

async function withFile(
  path: string,
  flags: string,
  use: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const file = await open(path, flags);
  try {
    await use(file);
  } finally {
    await file.close();
  }
}
