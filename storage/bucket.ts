// Files in a bucket that speaks S3: streams of unknown length are sent part by part.
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { Backend, ByteRange, StoredFile } from './backend.ts';

export interface BucketSettings {
  bucket: string;
  region: string;
  /** For other services than Amazon's. */
  endpoint?: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Bucket in the path instead of in the host name, as most other services want it. */
  forcePathStyle?: boolean;
}

const CONNECT_TIMEOUT_MS = 5_000;
const SILENCE_TIMEOUT_MS = 30_000;
const PART_BYTES = 8 * 1024 * 1024;
/** Parts in memory at once, per upload. */
const PARTS_PARALLEL = 2;

export function createBucket(settings: BucketSettings): Backend {
  const { bucket: Bucket } = settings;
  const client = createClient(settings);
  return {
    write: (Key, source, contentType) => writeObject(client, { Bucket, Key }, source, contentType),
    read: (Key) => readObject(client, { Bucket, Key }),
    readPart: async (Key, range) => (await readObject(client, { Bucket, Key }, range)).stream,
    size: async (Key) => (await client.send(new HeadObjectCommand({ Bucket, Key }))).ContentLength ?? 0,
    list: (folder) => listObjects(client, Bucket, folder),
    delete: async (Key) => void (await client.send(new DeleteObjectCommand({ Bucket, Key }))),
    removeUnfinished: (before) => abortUnfinished(client, Bucket, before),
  };
}

interface ObjectName {
  Bucket: string;
  Key: string;
}

function createClient(settings: BucketSettings): S3Client {
  const { region, endpoint, accessKeyId, secretAccessKey, forcePathStyle } = settings;
  return new S3Client({
    region,
    credentials: { accessKeyId, secretAccessKey },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(forcePathStyle === undefined ? {} : { forcePathStyle }),
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SILENCE_TIMEOUT_MS },
    // Services other than Amazon's do not know the newer checksums that the client would add by itself.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

/**
 * Uploads with one call if it is less than a part, else in parts that become a file only when all are there.
 * On failure the parts are removed.
 */
async function writeObject(
  client: S3Client,
  name: ObjectName,
  source: Readable,
  contentType: string,
): Promise<void> {
  const upload = new Upload({
    client,
    params: { ...name, Body: source, ContentType: contentType },
    partSize: PART_BYTES,
    queueSize: PARTS_PARALLEL,
    leavePartsOnError: false,
  });
  await upload.done();
}

async function readObject(client: S3Client, name: ObjectName, range?: ByteRange): Promise<StoredFile> {
  const part = range && { Range: `bytes=${range.first}-${range.last}` };
  const { Body, ContentLength } = await client.send(new GetObjectCommand({ ...name, ...part }));
  if (!(Body instanceof Readable)) throw new Error('the bucket answered without a body');
  return { stream: Body, bytes: ContentLength ?? 0 };
}

async function* listObjects(client: S3Client, Bucket: string, folder: string): AsyncGenerator<string> {
  let next: string | undefined;
  do {
    const page = { Bucket, Prefix: `${folder}/`, ...(next !== undefined && { ContinuationToken: next }) };
    const { Contents = [], NextContinuationToken } = await client.send(new ListObjectsV2Command(page));
    for (const { Key } of Contents) if (Key !== undefined) yield Key;
    next = NextContinuationToken;
  } while (next !== undefined);
}

/**
 * Gives up uploads in parts that were begun before this moment and never ended: at most a thousand in one
 * call.
 */
async function abortUnfinished(client: S3Client, Bucket: string, before: Date): Promise<void> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
  for (const { Key, UploadId, Initiated } of Uploads) {
    if (Key === undefined || UploadId === undefined || !Initiated || Initiated >= before) continue;
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
  }
}
