// Storage in a bucket, against a small stand-in that speaks S3: streams of unknown length, and nothing left
// after failures.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { createStorage, StorageUnavailable, type Storage } from '../../storage/storage.ts';

const MP4 = { contentType: 'video/mp4' };
const MEBIBYTE = 1024 * 1024;
const UNFINISHED = `<ListMultipartUploadsResult>
  <Upload><Key>old.mp4</Key><UploadId>u</UploadId><Initiated>2026-11-20T00:00:00.000Z</Initiated></Upload>
  <Upload><Key>young.mp4</Key><UploadId>v</UploadId><Initiated>2026-11-21T00:00:00.000Z</Initiated></Upload>
</ListMultipartUploadsResult>`;

describe('storage in a bucket', () => {
  let server: Server;
  let storage: Storage;
  const objects = new Map<string, { body: Buffer; type: string }>();
  const parts = new Map<number, Buffer>();
  let operations: string[] = [];
  let failing = '';
  let typeOfUpload = '';
  let range: string | undefined;
  let aborted: string[] = [];

  before(async () => {
    server = createServer((req, res) => {
      const url = new URL(req.url ?? '/', 'http://stub');
      buffer(req).then(
        (body) => {
          range = req.headers.range;
          play(req.method ?? '', url, body, req.headers['content-type'] ?? '', res);
        },
        () => res.destroy(),
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    storage = createStorage({
      kind: 's3',
      bucket: 'results',
      region: 'eu-central-1',
      endpoint: `http://127.0.0.1:${port}`,
      accessKeyId: 'id',
      secretAccessKey: 'secret',
      forcePathStyle: true,
    });
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    objects.clear();
    parts.clear();
    operations = [];
    aborted = [];
    failing = '';
  });

  function play(method: string, url: URL, body: Buffer, type: string, res: ServerResponse): void {
    const operation = operationOf(method, url);
    operations.push(operation);
    if (operation === failing) return sendXml(res, 403, '<Error><Code>AccessDenied</Code></Error>');
    const key = url.pathname;
    const object = objects.get(key);
    switch (operation) {
      case 'put':
        objects.set(key, { body, type });
        return void res.setHeader('etag', '"e"').end();
      case 'begin':
        typeOfUpload = type;
        return sendXml(
          res,
          200,
          '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>',
        );
      case 'part':
        parts.set(Number(url.searchParams.get('partNumber')), body);
        return void res.setHeader('etag', '"e"').end();
      case 'complete': {
        const inOrder = [...parts].sort(([one], [other]) => one - other).map(([, part]) => part);
        objects.set(key, { body: Buffer.concat(inOrder), type: typeOfUpload });
        return sendXml(
          res,
          200,
          '<CompleteMultipartUploadResult><ETag>"e"</ETag></CompleteMultipartUploadResult>',
        );
      }
      case 'unfinished':
        return sendXml(res, 200, UNFINISHED);
      case 'list': {
        const prefix = `/results/${url.searchParams.get('prefix') ?? ''}`;
        const keys = [...objects.keys()].filter((name) => name.startsWith(prefix));
        const contents = keys.map(
          (name) => `<Contents><Key>${name.slice('/results/'.length)}</Key></Contents>`,
        );
        return sendXml(res, 200, `<ListBucketResult>${contents.join('')}</ListBucketResult>`);
      }
      case 'abort':
        aborted.push(key);
        parts.clear();
        return void res.writeHead(204).end();
      case 'delete':
        objects.delete(key);
        return void res.writeHead(204).end();
      default:
        if (range && object) {
          const [, first = '', last = ''] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? [];
          return void res.writeHead(206).end(object.body.subarray(Number(first), Number(last) + 1));
        }
        if (!object) return sendXml(res, 404, '<Error><Code>NoSuchKey</Code></Error>');
        res.writeHead(200, {
          'content-length': object.body.length,
          'content-type': object.type,
          'last-modified': 'Sat, 21 Nov 2026 00:00:00 GMT',
        });
        return void res.end(operation === 'head' ? undefined : object.body);
    }
  }

  function operationOf(method: string, { searchParams }: URL): string {
    if (searchParams.has('uploads')) return method === 'GET' ? 'unfinished' : 'begin';
    if (searchParams.has('list-type')) return 'list';
    if (searchParams.has('partNumber')) return 'part';
    if (searchParams.has('uploadId')) return method === 'DELETE' ? 'abort' : 'complete';
    return method.toLowerCase();
  }

  function sendXml(res: ServerResponse, status: number, xml: string): void {
    res.writeHead(status, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${xml}`);
  }

  function* mebibytes(count: number): Generator<Buffer> {
    for (let index = 0; index < count; index += 1) yield Buffer.alloc(MEBIBYTE, index + 1);
  }

  function errorOf(call: Promise<unknown>): Promise<unknown> {
    return call.then(
      () => null,
      (error: unknown) => error,
    );
  }

  it('writes a small file with one call, and gives it back with its size', async () => {
    expect(await storage.write('a/b.mp4', Readable.from(['vid', 'eo']), MP4)).to.deep.equal({ bytes: 5 });
    expect(objects.get('/results/a/b.mp4')).to.deep.equal({ body: Buffer.from('video'), type: 'video/mp4' });
    expect(operations).to.deep.equal(['put']);
    const file = await storage.read('a/b.mp4');
    expect(file?.bytes).to.equal(5);
    expect(file && String(await buffer(file.stream))).to.equal('video');
  });

  it('writes a large file of unknown length in parts', async () => {
    expect(await storage.write('large.mp4', Readable.from(mebibytes(20)), MP4)).to.deep.equal({
      bytes: 20 * MEBIBYTE,
    });
    expect(operations.filter((operation) => operation === 'part').length).to.equal(3);
    const { body, type } = objects.get('/results/large.mp4') ?? {};
    expect([body?.length, type]).to.deep.equal([20 * MEBIBYTE, 'video/mp4']);
    expect(body?.equals(Buffer.concat([...mebibytes(20)]))).to.equal(true);
  });

  it('removes the parts when the stream fails, and says what failed', async () => {
    const trouble = new Error('the vendor hung up');
    async function* broken(): AsyncGenerator<Buffer> {
      yield* mebibytes(9);
      throw trouble;
    }
    expect(await errorOf(storage.write('large.mp4', Readable.from(broken()), MP4))).to.equal(trouble);
    expect(operations).to.include('abort').and.not.include('complete');
    expect(objects.size).to.equal(0);
  });

  it('writes nothing when the stream fails at once', async () => {
    const trouble = new Error('the vendor hung up');
    const stream = new Readable({ read: () => stream.destroy(trouble) });
    expect(await errorOf(storage.write('a', stream, MP4))).to.equal(trouble);
    expect(operations).to.deep.equal([]);
  });

  for (const operation of ['begin', 'part', 'complete']) {
    it(`is unavailable when the bucket refuses to ${operation}, and lets go of the stream`, async () => {
      failing = operation;
      const stream = Readable.from(mebibytes(20));
      expect(await errorOf(storage.write('large.mp4', stream, MP4))).to.be.instanceOf(StorageUnavailable);
      expect(stream.destroyed).to.equal(true);
      expect(objects.size).to.equal(0);
      if (operation !== 'begin') expect(operations).to.include('abort');
    });
  }

  it('is unavailable when the bucket refuses small files, reading or deleting', async () => {
    failing = 'put';
    expect(await errorOf(storage.write('a', Readable.from(['x']), MP4))).to.be.instanceOf(StorageUnavailable);
    failing = 'get';
    expect(await errorOf(storage.read('a'))).to.be.instanceOf(StorageUnavailable);
    failing = 'head';
    expect(await errorOf(storage.size('a'))).to.be.instanceOf(StorageUnavailable);
    failing = 'delete';
    expect(await errorOf(storage.delete('a'))).to.be.instanceOf(StorageUnavailable);
  });

  it('has nothing under a key that was never written', async () => {
    expect(await storage.read('nothing')).to.equal(null);
  });

  it('gives back parts, and sizes', async () => {
    await storage.write('a', Readable.from(['0123456789']), MP4);
    const part = await storage.readPart('a', { first: 2, last: 4 });
    expect(part && String(await buffer(part))).to.equal('234');
    expect(await storage.size('a')).to.equal(10);
    expect(await storage.size('b')).to.equal(null);
    expect(await storage.readPart('b', { first: 0, last: 1 })).to.equal(null);
  });

  it('lists the files of a folder', async () => {
    for (const key of ['uploads/a.mp4', 'uploads/b.mp4', 'results/c.png'])
      await storage.write(key, Readable.from(['x']), MP4);
    expect(await Readable.from(storage.list('uploads')).toArray()).to.deep.equal([
      'uploads/a.mp4',
      'uploads/b.mp4',
    ]);
  });

  it('gives up what was left unfinished before a moment, and nothing younger', async () => {
    await storage.removeUnfinished(new Date('2026-11-20T12:00:00Z'));
    expect(aborted).to.deep.equal(['/results/old.mp4']);
  });

  it('deletes', async () => {
    await storage.write('a', Readable.from(['x']), MP4);
    await storage.delete('a');
    expect(await storage.read('a')).to.equal(null);
  });
});
