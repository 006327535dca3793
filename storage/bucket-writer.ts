// Files in a bucket: streams of unknown length are sent part by part. Parts of files can be read.
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';

const PART_BYTES = 8 * 1024 * 1024;
/** Parts in memory at once, per upload. */
const PARTS_PARALLEL = 2;

/**
 * Uploads with one call if it is less than a part, else in parts that become a file only when all are there.
 * On failure the parts are removed. Throws what the client or the source throws.
 */
export async function writeToBucket(
  client: S3Client,
  file: { bucket: string; key: string; source: Readable; contentType: string },
): Promise<void> {
  const upload = new Upload({
    client,
    params: { Bucket: file.bucket, Key: file.key, Body: file.source, ContentType: file.contentType },
    partSize: PART_BYTES,
    queueSize: PARTS_PARALLEL,
    leavePartsOnError: false,
  });
  await upload.done();
}

/** Throws what the client throws, `NoSuchKey` for a file that is not there. */
export async function readPartOfObject(
  client: S3Client,
  { bucket, key, range }: { bucket: string; key: string; range: { first: number; last: number } },
): Promise<Readable> {
  const { first, last } = range;
  const command = new GetObjectCommand({ Bucket: bucket, Key: key, Range: `bytes=${first}-${last}` });
  const { Body } = await client.send(command);
  if (!(Body instanceof Readable)) throw new Error('the bucket answered without a body');
  return Body;
}

/** Gives up uploads in parts that were begun before this moment and never ended: at most a thousand in one call. */
export async function abortUnfinished(client: S3Client, bucket: string, before: Date): Promise<void> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  for (const { Key, UploadId, Initiated } of Uploads) {
    if (Key === undefined || UploadId === undefined || !Initiated || Initiated >= before) continue;
    await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
  }
}
