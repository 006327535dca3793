// What a place for files has to do, for storage.ts to make a Storage of it.
import type { Readable } from 'node:stream';

/**
 * Keys are sound when they arrive here. Methods throw what the file system or the client throws: `ENOENT` or
 * `NotFound` for a file that does not exist.
 */
export interface Backend {
  /** Readers see the whole file or none. Throws what the source throws, too, and leaves nothing behind. */
  write(key: string, source: Readable, contentType: string): Promise<void>;
  read(key: string): Promise<StoredFile>;
  readPart(key: string, range: ByteRange): Promise<Readable>;
  size(key: string): Promise<number>;
  /** The keys of all files below a folder. */
  list(folder: string): AsyncGenerator<string>;
  delete(key: string): Promise<void>;
  removeUnfinished(before: Date): Promise<void>;
}

export interface StoredFile {
  stream: Readable;
  bytes: number;
}

/** Both ends are included, as in HTTP. */
export interface ByteRange {
  first: number;
  last: number;
}
