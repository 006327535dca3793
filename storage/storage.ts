// Results and uploads as files under keys: on a local disk, or in a bucket that speaks S3.
import { Readable } from 'node:stream';
import type { Backend, ByteRange, StoredFile } from './backend.ts';
import { createBucket, type BucketSettings } from './bucket.ts';
import { createFolder } from './folder.ts';

export type { ByteRange } from './backend.ts';

export interface Storage {
  /**
   * Stores a stream of unknown length under a key such as `results/task_1/1/0.png`, replacing what was there.
   * Readers see the whole file or none. Throws StorageUnavailable when the storage fails; when the stream
   * fails, its own error.
   */
  write(key: string, stream: Readable, options: { contentType: string }): Promise<{ bytes: number }>;
  /** Opens a file, or answers null when there is none. Throws StorageUnavailable. */
  read(key: string): Promise<StoredFile | null>;
  /** Opens a part of a file; null when there is no such file. Throws StorageUnavailable. */
  readPart(key: string, range: ByteRange): Promise<Readable | null>;
  /** The bytes of a file, or null when there is none. Throws StorageUnavailable. */
  size(key: string): Promise<number | null>;
  /** The keys of all files below a folder such as `uploads`, in no order. Throws StorageUnavailable. */
  list(folder: string): AsyncGenerator<string>;
  /** Removes a file; one that does not exist is fine. Throws StorageUnavailable. */
  delete(key: string): Promise<void>;
  /** Removes what writers that died left unfinished before this moment. Throws StorageUnavailable. */
  removeUnfinished(before: Date): Promise<void>;
}

export type StorageSettings = { kind: 'local'; folder: string } | ({ kind: 's3' } & BucketSettings);

/** The storage did not work: disk full, bucket out of reach. It may work later. */
export class StorageUnavailable extends Error {
  constructor(cause: unknown) {
    super('the storage is not available', { cause });
    this.name = 'StorageUnavailable';
  }
}

/**
 * Names of folders and files, so that no key leads outside or means something else to one of the backends.
 */
const KEY = /^(?!\.\.?(?:\/|$))[\w.-]+(?:\/(?!\.\.?(?:\/|$))[\w.-]+)*$/;
/** How the file system and the S3 client say that there is no such file. */
const MISSING_CODES = ['ENOENT', 'ENOTDIR'];
const MISSING_NAMES = ['NotFound', 'NoSuchKey'];

export function createStorage(settings: StorageSettings): Storage {
  return storageOn(settings.kind === 'local' ? createFolder(settings.folder) : createBucket(settings));
}

/** Checks the keys, and tells missing files and a storage that does not work apart. */
function storageOn(backend: Backend): Storage {
  return {
    async write(key, stream, { contentType }) {
      checkKey(key);
      const source = watch(stream);
      try {
        await backend.write(key, source.stream, contentType);
        return { bytes: source.bytes() };
      } catch (error) {
        stream.destroy();
        const failure = source.failure();
        throw failure ? failure.error : new StorageUnavailable(error);
      }
    },
    async read(key) {
      checkKey(key);
      return orNull(backend.read(key));
    },
    async readPart(key, range) {
      checkKey(key);
      return orNull(backend.readPart(key, range));
    },
    async size(key) {
      checkKey(key);
      return orNull(backend.size(key));
    },
    async *list(folder) {
      checkKey(folder);
      try {
        yield* backend.list(folder);
      } catch (error) {
        if (!saysMissing(error)) throw new StorageUnavailable(error);
      }
    },
    async delete(key) {
      checkKey(key);
      await orNull(backend.delete(key));
    },
    async removeUnfinished(before) {
      await backend.removeUnfinished(before).catch((error: unknown) => {
        throw new StorageUnavailable(error);
      });
    },
  };
}

/** Throws a RangeError. */
function checkKey(key: string): void {
  if (!KEY.test(key)) throw new RangeError(`not a key of the storage: ${JSON.stringify(key.slice(0, 100))}`);
}

/** Null when there is no such file. Throws StorageUnavailable for every other error. */
async function orNull<Found>(search: Promise<Found>): Promise<Found | null> {
  try {
    return await search;
  } catch (error) {
    if (saysMissing(error)) return null;
    throw new StorageUnavailable(error);
  }
}

function saysMissing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    ('code' in error && MISSING_CODES.includes(String(error.code))) || MISSING_NAMES.includes(error.name)
  );
}

/**
 * Counts what passes, and remembers whether it was the source that failed: then the storage is not to blame.
 */
function watch(stream: Readable) {
  let bytes = 0;
  let failure: { error: unknown } | null = null;
  async function* pass(): AsyncGenerator<Buffer> {
    // A reader that gives up throws its own error in at `yield`: that one is not the source's.
    let waitsForSource = true;
    try {
      for await (const chunk of stream) {
        bytes += chunk.length;
        waitsForSource = false;
        yield chunk;
        waitsForSource = true;
      }
    } catch (error) {
      if (waitsForSource) failure = { error };
      throw error;
    }
  }
  return {
    stream: Readable.from(pass(), { objectMode: false }),
    bytes: (): number => bytes,
    failure: (): { error: unknown } | null => failure,
  };
}
