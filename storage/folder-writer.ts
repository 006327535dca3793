// Writes a stream to a file that appears under its name only when it is complete and on the disk.
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';

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
