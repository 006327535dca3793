// Sending a stored file ends its stream in every case: an open one holds a file, or a connection to a bucket.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import express from 'express';
import { sendFile } from '../../../api/http/send-file.ts';
import { createStorage, type Storage } from '../../../storage/storage.ts';

const KEY = 'results/a.png';
const FILE = { key: KEY, contentType: 'image/png', filename: 'a.png' };

describe('the stream of a file that is sent', () => {
  const folder = mkdtempSync(join(tmpdir(), 'send-file-'));
  const stored = createStorage({ kind: 'local', folder });
  let opened: Readable[];
  /** Resolved when a request has been worked on; `leaves`: not before its caller has left. */
  let worked: PromiseWithResolvers<void>;
  let leaves: boolean;
  let server: Server;

  /** The storage, which notes the streams that it opens. */
  const noting: Storage = {
    ...stored,
    read: async (key) => {
      const file = await stored.read(key);
      if (file) opened.push(file.stream);
      return file;
    },
    readPart: async (key, range) => {
      const stream = await stored.readPart(key, range);
      if (stream) opened.push(stream);
      return stream;
    },
  };

  before(async () => {
    await stored.write(KEY, Readable.from([Buffer.alloc(100_000)]), { contentType: 'image/png' });
    const app = express();
    app.use((req, res, next) => {
      const send = async (): Promise<void> => {
        if (leaves) await once(res, 'close');
        await sendFile(noting, req, res, FILE);
      };
      send().then(worked.resolve, (error: unknown) => {
        worked.reject(error);
        next(error);
      });
    });
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => {
    opened = [];
    worked = Promise.withResolvers();
    leaves = false;
  });
  after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  const ask = (method: string, headers: Record<string, string> = {}) =>
    request({ port: (server.address() as AddressInfo).port, method, headers });

  for (const [title, method, headers] of [
    ['a whole answer', 'GET', {}],
    ['a range', 'GET', { range: 'bytes=0-99' }],
    ['an answer without a body', 'HEAD', {}],
  ] as const) {
    it(`is closed after ${title}`, async () => {
      ask(method, headers)
        .on('response', (response) => response.resume())
        .end();
      await worked.promise;
      expect(opened.map(({ destroyed }) => destroyed)).to.deep.equal([true]);
    });

    it(`is closed when the caller has left before ${title}`, async () => {
      leaves = true;
      const asked = ask(method, headers).on('error', () => undefined);
      asked.end();
      await once(server, 'request');
      asked.destroy();
      await worked.promise;
      expect(opened.map(({ destroyed }) => destroyed)).to.deep.equal([true]);
    });
  }
});
