// Reads a multipart form with one file as it arrives, without keeping it in memory.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { GatewayError } from '../../domain/errors.ts';
import { isForm, requireBoundary } from '../http/form-fields.ts';
import { discardBody } from '../http/receive-body.ts';

export interface FormFile {
  /** The file's name as the sender wrote it; empty without one. */
  filename: string;
  /**
   * The bytes of the file. The generator ends only after the whole form has arrived and was found valid,
   * and throws a GatewayError otherwise, so that a whole file is stored or none.
   */
  content: AsyncGenerator<Buffer>;
  /** Stops reading and discards what still arrives. May be called at any time, and more than once. */
  close(): void;
}

/** Name of the part that holds the file. */
const FILE_PART = 'file';
/** Most bytes of a form beside its file: boundaries, headers of parts, small fields. */
const FORM_EXTRA_BYTES_MAX = 64 * 1024;
const LIMITS = { files: 1, fields: 4, parts: 6, fieldSize: 8 * 1024, headerPairs: 50 };

/**
 * Resolves when the file begins. Throws a GatewayError: 415 for a body that is no form, 400 for a form that
 * is broken or does not hold exactly one file, 413 for a file of more than `fileBytesMax` bytes if that is
 * announced before anything is read.
 */
export async function openFileForm(req: IncomingMessage, fileBytesMax: number): Promise<FormFile> {
  rejectMalformedForm(req.headers, fileBytesMax);
  const parser = createParser(req.headers, fileBytesMax);
  const refuse = (error: GatewayError): void => void parser.destroy(error);
  parser.on('error', () => undefined); // a second error has no listener and would end the process
  for (const event of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const)
    parser.on(event, () => refuse(new GatewayError('too_many_parts', { param: FILE_PART })));

  const begun = Promise.withResolvers<{ filename: string; file: Readable }>();
  parser.on('file', (name: string | undefined, file, { filename }: { filename?: string }) => {
    file.on('error', () => undefined); // the reader of the file gets the error
    if (name === FILE_PART) begun.resolve({ filename: filename ?? '', file });
    else
      refuse(
        new GatewayError(name === undefined ? 'invalid_multipart' : 'file_missing', { param: FILE_PART }),
      );
  });
  const whole = pump(req, parser, fileBytesMax + FORM_EXTRA_BYTES_MAX);
  whole.then(
    () => begun.reject(new GatewayError('file_missing', { param: FILE_PART })),
    (error: unknown) => begun.reject(error),
  );
  const { filename, file } = await begun.promise;
  return { filename, content: readFile(file, whole, fileBytesMax), close: () => void parser.destroy() };
}

function rejectMalformedForm(headers: IncomingHttpHeaders, fileBytesMax: number): void {
  if (!isForm(headers) || (headers['content-encoding'] ?? 'identity') !== 'identity') {
    const message = 'Send the file as multipart/form-data, in one part named "file", uncompressed.';
    throw new GatewayError('unsupported_media_type', { message });
  }
  requireBoundary(headers['content-type'] ?? '');
  if (Number(headers['content-length'] ?? 0) > fileBytesMax + FORM_EXTRA_BYTES_MAX)
    throw tooLarge(fileBytesMax);
}

function createParser(headers: IncomingHttpHeaders, fileBytesMax: number): busboy.Busboy {
  try {
    // At its limit the parser cuts the file silently, so its limit is one byte above ours.
    const limits = { ...LIMITS, fileSize: fileBytesMax + 1 };
    return busboy({ headers, limits, defParamCharset: 'utf8' });
  } catch (cause) {
    throw new GatewayError('invalid_multipart', { cause });
  }
}

/**
 * Writes the body into the parser, at the parser's pace. A pipeline would destroy the request on the first
 * error, and with it the connection over which the answer has yet to go.
 */
async function pump(req: IncomingMessage, parser: busboy.Busboy, bytesMax: number): Promise<void> {
  let bytes = 0;
  const take = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > bytesMax) parser.destroy(tooLarge(bytesMax - FORM_EXTRA_BYTES_MAX));
    else if (!parser.write(chunk)) req.pause();
  };
  const goOn = (): void => void req.resume();
  const end = (): void => void parser.end();
  const cut = (): void => {
    if (!req.readableEnded)
      parser.destroy(new GatewayError('invalid_multipart', { message: 'The body broke off.' }));
  };
  parser.on('drain', goOn);
  req.on('data', take).once('end', end).once('close', cut).once('error', cut);
  // After the answer is sent, only the connection tells that the body has broken off.
  req.socket.once('close', cut);
  if (req.destroyed) cut();
  try {
    await finished(parser);
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : new GatewayError('invalid_multipart', { cause });
  } finally {
    req.off('data', take).off('end', end).off('close', cut).off('error', cut);
    req.socket.off('close', cut);
    parser.off('drain', goOn);
    req.on('error', () => undefined); // a caller may disconnect later: nothing is left to do
    discardBody(req);
  }
}

async function* readFile(file: Readable, whole: Promise<void>, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of file) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge(bytesMax);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    await whole; // rejects with the reason why the file broke off
    throw error;
  }
  await whole;
}

function tooLarge(bytesMax: number): GatewayError {
  const message = `The file may have at most ${bytesMax} bytes.`;
  return new GatewayError('file_too_large', { param: FILE_PART, message });
}
