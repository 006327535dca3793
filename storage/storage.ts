// Results and uploads as files under keys: on a local disk, or in a bucket that speaks S3.
import { Readable } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';
import { Disk, KeyNormalizer } from 'flydrive';
import { FSDriver } from 'flydrive/drivers/fs';
import { S3Driver } from 'flydrive/drivers/s3';
import { writeToBucket } from './bucket-writer.ts';
import { writeToFolder } from './folder-writer.ts';

export interface Storage {
  /**
   * Stores a stream of unknown length under a key such as `results/task_1/1/0.png`, replacing what was there. Readers
   * see the whole file or none. Throws StorageUnavailable when the storage fails; when the stream fails, its own error.
   */
  write(key: string, stream: Readable, options: { contentType: string }): Promise<{ bytes: number }>;
  /** Opens a file, or answers null when there is none. Throws StorageUnavailable. */
  read(key: string): Promise<{ stream: Readable; bytes: number } | null>;
  /** Removes a file; one that does not exist is fine. Throws StorageUnavailable. */
  delete(key: string): Promise<void>;
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

type Write = (key: string, source: Readable, contentType: string) => Promise<void>;

const CONNECT_TIMEOUT_MS = 5_000;
const SILENCE_TIMEOUT_MS = 30_000;

export function createStorage(settings: StorageSettings): Storage {
  return settings.kind === 'local' ? createLocalStorage(settings.folder) : createBucketStorage(settings);
}

function createLocalStorage(folder: string): Storage {
  const disk = new Disk(new FSDriver({ location: folder, visibility: 'private' }));
  return storageOn(disk, (key, source) => writeToFolder(folder, key, source));
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
  return storageOn(disk, (key, source, contentType) =>
    writeToBucket(client, { bucket, key, source, contentType }),
  );
}

/**
 * flydrive reads, deletes, and refuses keys that lead outside. Writing is ours: its file driver writes under the final
 * name, and its S3 driver cannot send a stream of unknown length.
 */
function storageOn(disk: Disk, write: Write): Storage {
  const keys = new KeyNormalizer();
  return {
    async write(key, stream, { contentType }) {
      const sound = keys.normalize(key);
      const source = watch(stream);
      try {
        await write(sound, source.stream, contentType);
        return { bytes: source.bytes() };
      } catch (error) {
        stream.destroy();
        const failure = source.failure();
        throw failure ? failure.error : new StorageUnavailable(error);
      }
    },
    async read(key) {
      const sound = keys.normalize(key);
      try {
        const { contentLength } = await disk.getMetaData(sound);
        return { stream: await disk.getStream(sound), bytes: contentLength };
      } catch (error) {
        if (saysMissing(error)) return null;
        throw new StorageUnavailable(error);
      }
    },
    async delete(key) {
      await disk.delete(keys.normalize(key)).catch((error: unknown) => {
        throw new StorageUnavailable(error);
      });
    },
  };
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

/** flydrive wraps what the file system (`code`) or the S3 client (`name`) said. */
function saysMissing(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  if (!(cause instanceof Error)) return false;
  const code = 'code' in cause ? String(cause.code) : '';
  return ['ENOENT', 'ENOTDIR'].includes(code) || ['NotFound', 'NoSuchKey'].includes(cause.name);
}
