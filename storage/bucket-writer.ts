// Uploads a stream of unknown length to a bucket, part by part.
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
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
