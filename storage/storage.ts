// Results and uploads as files under keys: on a local disk, or in a bucket that speaks S3.
import { Readable } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';
import { Disk, KeyNormalizer } from 'flydrive';
import { FSDriver } from 'flydrive/drivers/fs';
import { S3Driver } from 'flydrive/drivers/s3';
import { abortUnfinished, readPartOfObject, writeToBucket } from './bucket-writer.ts';
import { readPartOfFile, removeUnfinished, writeToFolder } from './folder-writer.ts';

export interface Storage {
  /**
   * Stores a stream of unknown length under a key such as `results/task_1/1/0.png`, replacing what was there. Readers
   * see the whole file or none. Throws StorageUnavailable when the storage fails; when the stream fails, its own error.
   */
  write(key: string, stream: Readable, options: { contentType: string }): Promise<{ bytes: number }>;
  /** Opens a file, or answers null when there is none. Throws StorageUnavailable. */
  read(key: string): Promise<{ stream: Readable; bytes: number } | null>;
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

/** Both ends are included, as in HTTP. */
export interface ByteRange {
  first: number;
  last: number;
}

export type StorageSettings =
  | { kind: 'local'; folder: string }
  | {
      kind: 's3';
      bucket: string;
      region: string;
      /** For other services than Amazon's. */
      endpoint?: string;
      accessKeyId: string;
      secretAccessKey: string;
      /** Bucket in the path instead of in the host name, as most other services want it. */
      forcePathStyle?: boolean;
    };

/** The storage did not work: disk full, bucket out of reach. It may work later. */
export class StorageUnavailable extends Error {
  constructor(cause: unknown) {
    super('the storage is not available', { cause });
    this.name = 'StorageUnavailable';
  }
}

/** What flydrive does not do, or not well enough. */
interface Driver {
  write: (key: string, source: Readable, contentType: string) => Promise<void>;
  readPart: (key: string, range: ByteRange) => Promise<Readable>;
  removeUnfinished: (before: Date) => Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
const SILENCE_TIMEOUT_MS = 30_000;

export function createStorage(settings: StorageSettings): Storage {
  return settings.kind === 'local' ? createLocalStorage(settings.folder) : createBucketStorage(settings);
}

function createLocalStorage(folder: string): Storage {
  const disk = new Disk(new FSDriver({ location: folder, visibility: 'private' }));
  return storageOn(disk, {
    write: (key, source) => writeToFolder(folder, key, source),
    readPart: (key, range) => readPartOfFile(folder, key, range),
    removeUnfinished: (before) => removeUnfinished(folder, before),
  });
}

function createBucketStorage(settings: Extract<StorageSettings, { kind: 's3' }>): Storage {
  const { bucket, region, endpoint, accessKeyId, secretAccessKey, forcePathStyle } = settings;
  const client = new S3Client({
    region,
    credentials: { accessKeyId, secretAccessKey },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(forcePathStyle === undefined ? {} : { forcePathStyle }),
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SILENCE_TIMEOUT_MS },
    // Services other than Amazon's do not know the newer checksums that the client would add by itself.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const disk = new Disk(new S3Driver({ client, bucket, visibility: 'private', supportsACL: false }));
  return storageOn(disk, {
    write: (key, source, contentType) => writeToBucket(client, { bucket, key, source, contentType }),
    readPart: (key, range) => readPartOfObject(client, { bucket, key, range }),
    removeUnfinished: (before) => abortUnfinished(client, bucket, before),
  });
}

/**
 * flydrive reads, deletes, and refuses keys that lead outside. Writing is ours: its file driver writes under the final
 * name, and its S3 driver cannot send a stream of unknown length.
 */
function storageOn(disk: Disk, driver: Driver): Storage {
  const keys = new KeyNormalizer();
  return {
    async write(key, stream, { contentType }) {
      const sound = keys.normalize(key);
      const source = watch(stream);
      try {
        await driver.write(sound, source.stream, contentType);
        return { bytes: source.bytes() };
      } catch (error) {
        stream.destroy();
        const failure = source.failure();
        throw failure ? failure.error : new StorageUnavailable(error);
      }
    },
    async read(key) {
      const sound = keys.normalize(key);
      return orNull(async () => {
        const { contentLength } = await disk.getMetaData(sound);
        return { stream: await disk.getStream(sound), bytes: contentLength };
      });
    },
    async readPart(key, range) {
      const sound = keys.normalize(key);
      return orNull(() => driver.readPart(sound, range));
    },
    async size(key) {
      const sound = keys.normalize(key);
      return orNull(async () => (await disk.getMetaData(sound)).contentLength);
    },
    async *list(folder) {
      let paginationToken: string | undefined;
      do {
        const token = paginationToken === undefined ? {} : { paginationToken };
        const page = await orNull(() => disk.listAll(folder, { recursive: true, ...token }));
        for (const object of page?.objects ?? []) if (object.isFile) yield object.key;
        paginationToken = page?.paginationToken;
      } while (paginationToken !== undefined);
    },
    async delete(key) {
      await orUnavailable(disk.delete(keys.normalize(key)));
    },
    async removeUnfinished(before) {
      await orUnavailable(driver.removeUnfinished(before));
    },
  };
}

async function orUnavailable<Done>(work: Promise<Done>): Promise<Done> {
  return work.catch((error: unknown) => {
    throw new StorageUnavailable(error);
  });
}

/** Null when there is no such file. */
async function orNull<Found>(find: () => Promise<Found>): Promise<Found | null> {
  try {
    return await find();
  } catch (error) {
    if (saysMissing(error)) return null;
    throw new StorageUnavailable(error);
  }
}

/** Counts what passes, and remembers whether it was the source that failed: then the storage is not to blame. */
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

/** The file system says it with a `code`, the S3 client with a `name`; flydrive wraps both. */
function saysMissing(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return false;
  const code = 'code' in cause ? String(cause.code) : '';
  return ['ENOENT', 'ENOTDIR'].includes(code) || ['NotFound', 'NoSuchKey'].includes(cause.name);
}
