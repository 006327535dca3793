// Receives a video: streams it from the form into storage, and hashes it and checks its type on the way.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { makeId } from '../../db/ids.ts';
import { GatewayError } from '../../domain/errors.ts';
import { cleanFileName } from '../../domain/files/file-names.ts';
import {
  fileExtensionOf,
  isVideoType,
  MEDIA_TYPES,
  sniffMediaType,
  SNIFF_BYTES,
  type MediaType,
  type VideoType,
} from '../../domain/files/media-types.ts';
import { uploadKey } from '../../domain/files/uploads.ts';
import type { Storage } from '../../storage/storage.ts';
import { openFileForm } from './file-form.ts';

/** A file in storage without a row in the database yet. */
export interface ReceivedFile {
  id: string;
  filename: string;
  contentType: VideoType;
  bytes: number;
  /** The hash of the bytes, in hexadecimal. */
  sha256: string;
}

/** Receives the file. Throws a GatewayError or StorageUnavailable when that fails; then nothing is stored. */
export async function receiveVideo(
  req: IncomingMessage,
  storage: Storage,
  bytesMax: number,
): Promise<ReceivedFile> {
  const form = await openFileForm(req, bytesMax);
  try {
    const head = await readHead(form.content);
    const contentType = requireVideo(head);
    const id = makeId('file');
    const hash = createHash('sha256');
    async function* hashed(): AsyncGenerator<Buffer> {
      hash.update(head);
      yield head;
      for await (const chunk of form.content) {
        hash.update(chunk);
        yield chunk;
      }
    }
    const source = Readable.from(hashed(), { objectMode: false });
    const { bytes } = await storage.write(uploadKey({ id, contentType }), source, { contentType });
    return { id, filename: cleanFileName(form.filename), contentType, bytes, sha256: hash.digest('hex') };
  } finally {
    form.close();
  }
}

/** Reads the first bytes, as many as the detection of the type needs; fewer when the file is shorter. */
async function readHead(content: AsyncGenerator<Buffer>): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < SNIFF_BYTES) {
    const { value, done } = await content.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  return head;
}

/**
 * Detects the type from the content; the file's name and declared type do not count. Throws unless it is a
 * video.
 */
function requireVideo(head: Buffer): VideoType {
  if (head.length === 0) throw new GatewayError('empty_file', { param: 'file' });
  const type = sniffMediaType(head);
  if (type && isVideoType(type)) return type;
  const names = (Object.keys(MEDIA_TYPES) as MediaType[]).filter(isVideoType).map(fileExtensionOf);
  const message = `The file must be a video: ${names.join(', ')}.`;
  throw new GatewayError('unsupported_media_type', { param: 'file', message });
}
