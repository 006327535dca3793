// Files in a folder: one appears under its name only when it is complete and on the disk. Parts of files can be read.
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';

/** Unfinished files, in the same file system as the finished ones. A crash may leave some here, nowhere else. */
export const INCOMING_FOLDER = '.incoming';

/** Writes, syncs, and moves into place. Throws what the file system or the source throws, and leaves nothing behind. */
export async function writeToFolder(
  folder: string,
  key: string,
  source: AsyncIterable<Uint8Array>,
): Promise<void> {
  const target = join(folder, key);
  const incoming = join(folder, INCOMING_FOLDER, `${randomUUID()}.part`);
  await mkdir(dirname(incoming), { recursive: true });
  await mkdir(dirname(target), { recursive: true });
  try {
    await withFile(incoming, 'wx', async (file) => {
      for await (const chunk of source) await file.appendFile(chunk);
      await file.sync();
    });
    await rename(incoming, target);
  } catch (error) {
    // The first error is the one to tell; a file that cannot be removed either is found by its folder.
    await unlink(incoming).catch(() => undefined);
    throw error;
  }
  // The new name itself has to survive a power failure too.
  await withFile(dirname(target), 'r', (directory) => directory.sync());
}

/** Throws what the file system throws, `ENOENT` for a file that is not there. */
export async function readPartOfFile(
  folder: string,
  key: string,
  { first, last }: { first: number; last: number },
): Promise<Readable> {
  const file = await open(join(folder, key), 'r');
  return file.createReadStream({ start: first, end: last });
}

/** Removes unfinished files that nobody has written to since. */
export async function removeUnfinished(folder: string, before: Date): Promise<void> {
  const incoming = join(folder, INCOMING_FOLDER);
  const names = await readdir(incoming).catch(unlessMissing([]));
  for (const name of names) {
    const path = join(incoming, name);
    const { mtime } = await stat(path).catch(unlessMissing({ mtime: before }));
    if (mtime < before) await unlink(path).catch(unlessMissing(undefined));
  }
}

/** Somebody else may have been faster. */
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
