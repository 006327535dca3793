// What holds for every JSON body: its type, encoding, size and depth, and that a stranger's is not even read.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ROUTES } from '../../../api/app.ts';
import { expectNoEffect } from '../../support/http/effects.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Actor } from '../../support/http/http.ts';
import { sendRaw } from '../../support/http/raw.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const MIB = 1024 * 1024;
const SOUND = JSON.stringify({ mode: 'image', model: 'gpt-image-2', prompt: 'a cat' });
const PATHS = [
  '/v1/images/generations',
  '/v1/videos/generations',
  '/v1/estimates',
  '/api/tasks',
  '/api/estimates',
  '/api/auth/login',
];

describe('every body', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser(1000);
  });
  after(() => gateway.stop());

  const actorOf = (path: string): Actor => (path.startsWith('/v1') ? owner.key : owner.session);
  const send = (path: string, body: string | Buffer, headers: Record<string, string> = JSON_TYPE) =>
    expectNoEffect(gateway, () => actorOf(path).send('POST', path, { body, headers }));
  const estimate = (body: string | Buffer, headers: Record<string, string> = {}) =>
    send('/v1/estimates', body, { ...JSON_TYPE, ...headers });
  /** The sound body with one more member. */
  const sendMember = (member: string) => estimate(`${SOUND.slice(0, -1)},${member}}`);

  const types: [title: string, headers: Record<string, string>][] = [
    ['none', {}],
    ['text/plain', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['text/json', { 'content-type': 'text/json' }],
    ['application/jsonp', { 'content-type': 'application/jsonp' }],
    ['JSON in Latin 1', { 'content-type': 'application/json; charset=iso-8859-1' }],
    ['JSON in UTF-16', { 'content-type': 'application/json; charset=utf-16' }],
    ['two types', { 'content-type': 'application/json, text/plain' }],
  ];
  for (const [title, headers] of types)
    it(`is refused with 415 when its type is ${title}`, async () => {
      for (const path of PATHS)
        expectError(await send(path, SOUND, headers), 415, 'unsupported_media_type', null);
    });

  it('says that it may be a form where it may be one', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const path of ['/v1/images/edits', '/v1/videos']) {
      const answer = await send(path, 'prompt=x', headers);
      expectError(answer, 415, 'unsupported_media_type', null);
      expect(answer.body.error.message).to.contain('multipart/form-data').and.to.contain('application/json');
    }
  });

  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
  ])
    it(`is read when its type is ${type}`, async () => {
      expect((await estimate(SOUND, { 'content-type': type })).status).to.equal(200);
    });

  const broken: [title: string, body: string | Buffer, code: string][] = [
    ['cut off', '{"model":"m","messages":[', 'invalid_json'],
    ['no JSON', 'hello', 'invalid_json'],
    ['JavaScript', "{model:'m'}", 'invalid_json'],
    ['two values', '{} {}', 'invalid_json'],
    ['not UTF-8', Buffer.from([...Buffer.from('{"prompt":"'), 0xff, ...Buffer.from('"}')]), 'invalid_json'],
    ['half a character in bytes', Buffer.from('7b2261223a22eda080227d', 'hex'), 'invalid_json'],
    ['UTF-16', Buffer.from(SOUND, 'utf16le'), 'invalid_json'],
    ['a list', '[]', 'invalid_request'],
    ['a list of objects', '[{"model":"m"}]', 'invalid_request'],
    ['a text', '"x"', 'invalid_request'],
    ['a number', '1', 'invalid_request'],
    ['null', 'null', 'invalid_request'],
    ['true', 'true', 'invalid_request'],
  ];
  for (const [title, body, code] of broken)
    it(`is refused with 400 ${code} when it is ${title}`, async () => {
      for (const path of PATHS) {
        const answer = await send(path, body);
        expectError(answer, 400, code, null);
        expect(answer.body.error.message).not.to.match(/position|token|unexpected/i);
      }
    });

  it('that is empty counts as an object without fields', async () => {
    expectError(await estimate(''), 400, 'missing_field', 'mode');
  });

  const nested = (depth: number, open: string, close: string) =>
    open.repeat(depth - 1) + '1' + close.repeat(depth - 1);
  const unsound: [title: string, member: string][] = [
    ['a NUL character', '"x":"a\\u0000b"'],
    ['a NUL character in a name', '"a\\u0000b":1'],
    ['half a character', '"x":"\\ud800"'],
    ['the other half of a character', '"x":["\\udc00 "]'],
    ['half a character in a name', '"\\ud800":1'],
    ['a number too large', '"n":1e400'],
    ['a number too small', '"x":{"y":[-1e400]}'],
    ['33 levels of objects', `"x":${nested(33, '{"a":', '}')}`],
    ['33 levels of lists', `"x":${nested(33, '[', ']')}`],
    ['100,000 levels', `"x":${nested(100_000, '[', ']')}`],
  ];
  for (const [title, member] of unsound)
    it(`is refused with 400 when it holds ${title}`, async () => {
      expectError(await sendMember(member), 400, 'invalid_request', null);
    });

  for (const [title, member] of [
    ['whole characters beyond the first plane', '"x":"\\ud83d\\udc31 🐱"'],
    ['32 levels of objects', `"x":${nested(32, '{"a":', '}')}`],
    ['32 levels of lists', `"x":${nested(32, '[', ']')}`],
    ['a member named __proto__', '"__proto__":{"mode":"video"},"constructor":1'],
  ] as const)
    it(`is read when it holds ${title}`, async () => {
      expect((await sendMember(member)).status).to.equal(200);
    });

  describe('that is compressed', () => {
    const encodings: [name: string, compress: (text: string) => Buffer][] = [
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
    ];
    for (const [name, compress] of encodings) {
      const encoded = { 'content-encoding': name };

      it(`with ${name} is read`, async () => {
        const { status, body } = await estimate(compress(SOUND), encoded);
        expect(status).to.equal(200);
        expect(body.data.creditsEstimate).to.equal(4);
      });

      it(`with ${name} is refused with 400 when it is garbage or cut off`, async () => {
        const whole = compress(SOUND);
        for (const bytes of [
          Buffer.from(SOUND),
          Buffer.alloc(64, 0xff),
          whole.subarray(0, whole.length - 8),
          whole.subarray(0, 5),
        ]) {
          const answer = await estimate(bytes, encoded);
          expectError(answer, 400, 'invalid_request', null);
          expect(answer.body.error.message).to.include('Content-Encoding');
        }
      });

      it(`with ${name} is refused with 413 when it is too large unpacked`, async () => {
        const bomb = compress(JSON.stringify({ email: 'x'.repeat(2 * MIB), password: 'x' }));
        expect(bomb.length).to.be.below(MIB / 10);
        expectError(
          await send('/api/auth/login', bomb, { ...JSON_TYPE, ...encoded }),
          413,
          'payload_too_large',
          null,
        );
      });
    }

    it('is unpacked up to 4 MiB where only a price is asked for, and further where images are ordered', async () => {
      const padded = (mib: number) =>
        gzipSync(JSON.stringify({ ...JSON.parse(SOUND), model: 'none', extra: 'x'.repeat(mib * MIB) }));
      const encoded = { ...JSON_TYPE, 'content-encoding': 'gzip' };
      expectError(await send('/v1/estimates', padded(3), encoded), 404, 'model_not_found', 'model');
      expectError(await send('/v1/estimates', padded(4), encoded), 413, 'payload_too_large', null);
      expectError(await send('/v1/images/generations', padded(5), encoded), 404, 'model_not_found', 'model');
    });

    for (const name of ['foo', 'zstd', 'compress', 'gzip, gzip'])
      it(`with ${name} is refused with 415`, async () => {
        const answer = await estimate(gzipSync(SOUND), { 'content-encoding': name });
        expectError(answer, 415, 'unsupported_media_type', null);
        expect(answer.body.error.message).to.contain('gzip, deflate or br');
      });
  });

  describe('that is large', () => {
    const announce = async (
      path: string,
      announcedBytes: number,
      headers: Record<string, string>,
      method = 'POST',
    ) => {
      const answer = await sendRaw(gateway.baseUrl, { method, path, headers, announcedBytes });
      return { ...answer, body: JSON.parse(answer.text) };
    };

    it('is refused with 413 by its announced length, before it is sent', async () => {
      const headers = { ...JSON_TYPE, authorization: `Bearer ${owner.apiKey}` };
      for (const path of ['/v1/images/generations', '/v1/videos/generations'])
        expectError(await announce(path, 32 * MIB + 1, headers), 413, 'payload_too_large', null);
      expectError(await announce('/api/auth/login', MIB + 1, JSON_TYPE), 413, 'payload_too_large', null);
    });

    it('is refused with 413 when it is sent all the same', async () => {
      const answer = await send('/v1/images/generations', Buffer.alloc(33 * MIB, ' '));
      expectError(answer, 413, 'payload_too_large', null);
      expect((await estimate(SOUND)).status, 'the next request').to.equal(200);
    });

    it('is refused with 413 when it grows too large unannounced', async () => {
      const body = Buffer.from(JSON.stringify({ email: 'x'.repeat(MIB), password: 'x' }));
      const headers = { ...JSON_TYPE, 'transfer-encoding': 'chunked' };
      const answer = await sendRaw(gateway.baseUrl, {
        method: 'POST',
        path: '/api/auth/login',
        headers,
        body,
      });
      expectError({ status: answer.status, body: JSON.parse(answer.text) }, 413, 'payload_too_large', null);
    });

    it('is read up to 32 MiB where images may be in it', async () => {
      const answer = await estimate(JSON.stringify({ ...JSON.parse(SOUND), extra: 'x'.repeat(31 * MIB) }));
      expect(answer.status).to.equal(200);
    });

    for (const { method, path, proof, bodyBytesMax } of ROUTES) {
      if (proof === 'none' || bodyBytesMax === undefined) continue;
      it(`and a stranger’s, is not read: ${method} ${path} answers 401, neither 415 nor 413`, async () => {
        const code = proof === 'key' ? 'missing_api_key' : 'not_authenticated';
        const concrete = path.replaceAll(/:\w+/g, 'x');
        for (const headers of [JSON_TYPE, { 'content-type': 'text/plain' }])
          expectError(await announce(concrete, 1024 * MIB, headers, method), 401, code, null);
      });
    }
  });
});
