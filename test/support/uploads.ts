// Multipart forms built byte by byte, and the files that uploads leave in storage.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from '@mikro-orm/postgresql';
import type { TestGateway } from './servers/gateway.ts';
import { expectError } from './http/expect-error.ts';
import type { Actor, Answer } from './http/http.ts';
import { until } from './until.ts';

export const UPLOADS = '/v1/uploads/videos';
export const BOUNDARY = 'a-boundary';
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

const HEADS = {
  mp4: Buffer.from('0000001c667479706d703432000000006d703432', 'hex'),
  mov: Buffer.from('0000001466747970717420200000020071742020', 'hex'),
  webm: Buffer.from('1a45dfa39f4286810142f7810142f2810442f381084282847765626d', 'hex'),
};

/** A file that begins as such a video does; the rest is noise. */
export function makeVideo(bytes = 100, kind: keyof typeof HEADS = 'mp4', fill = 7): Buffer {
  return Buffer.concat([HEADS[kind], Buffer.alloc(Math.max(bytes - HEADS[kind].length, 0), fill)]);
}

export interface Part {
  /** Name of the field; by default `file`. */
  name?: string;
  filename?: string;
  /** Replaces the usual Content-Disposition. */
  disposition?: string | Buffer;
  type?: string;
  content: Buffer | string;
}

/** One part of a form: a file, unless it has another name and no file name. */
export function makeForm(...parts: Part[]): Buffer {
  return Buffer.concat([...parts.map(writePart), Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

export function writePart({
  name = 'file',
  filename,
  disposition,
  type = 'video/mp4',
  content,
}: Part): Buffer {
  const quoted = filename === undefined ? '' : `; filename="${filename}"`;
  const told = disposition ?? `form-data; name="${name}"${quoted}`;
  return Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: `),
    Buffer.from(told),
    Buffer.from(`\r\nContent-Type: ${type}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
}

export function upload(
  actor: Actor,
  content: Buffer = makeVideo(),
  { filename = 'waves.mp4', headers = {} }: { filename?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return sendForm(actor, makeForm({ filename, content }), headers);
}

export function sendForm(actor: Actor, body: Buffer, headers: Record<string, string> = {}): Promise<Answer> {
  return actor.send('POST', UPLOADS, { body, headers: { 'content-type': FORM_TYPE, ...headers } });
}

/** All files in the storage, unfinished ones included. */
export async function filesIn(gateway: TestGateway): Promise<string[]> {
  const folder = join(gateway.config.dataDir, 'storage');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** Numbers of stored files and of rows. */
export async function countUploads(gateway: TestGateway): Promise<{ files: number; rows: number }> {
  const rows = await gateway.em().execute<unknown[]>(sql`select 1 from upload`);
  return { files: (await filesIn(gateway)).length, rows: rows.length };
}

/** Waits until files and rows are again as many as `countUploads` has told. */
export async function untilUploadsAre(gateway: TestGateway, counted: object): Promise<void> {
  const wanted = JSON.stringify(counted);
  const isSame = async () => JSON.stringify(await countUploads(gateway)) === wanted;
  await until(`there is again ${wanted}`, isSame);
}

/** Sends a form; expects it to be refused with this status and code, and nothing of it to be stored. */
export async function expectFormRefused(
  gateway: TestGateway,
  actor: Actor,
  body: Buffer,
  [status, code]: readonly [number, string],
  headers: Record<string, string> = {},
): Promise<void> {
  const before = await countUploads(gateway);
  expectError(await sendForm(actor, body, headers), status, code);
  await untilUploadsAre(gateway, before);
}

/** Dates the upload back by so many hours. */
export async function ageUpload(gateway: TestGateway, id: string, hours: number): Promise<void> {
  await gateway.em().execute(sql`
    update upload set created_at = created_at - make_interval(hours => ${hours}),
                      expires_at = expires_at - make_interval(hours => ${hours}) where id = ${id}`);
}
