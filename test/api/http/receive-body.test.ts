// Bodies that break off or are refused: their memory is free at once, not when garbage is collected.
import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { discardBody, freeMemory, receiveBody } from '../../../api/http/receive-body.ts';
import { GatewayError } from '../../../domain/errors.ts';

const CHUNK_BYTES = 64 * 1024;
const BYTES = 8 * 1024 ** 2;
const LIMITS = { bytesMax: BYTES, inflatedBytesMax: BYTES };

/** A request that has announced so many bytes, and sent a chunk of them. */
function begin(bytes = BYTES): IncomingMessage {
  const req = new IncomingMessage(new Socket());
  req.headers['content-length'] = String(bytes);
  req.push(Buffer.alloc(1024, 0x20));
  return req;
}

const heldBytes = (): number => process.memoryUsage().arrayBuffers;

describe('the memory of a long body', () => {
  it('is free once the body has broken off', async () => {
    const req = begin();
    const received = receiveBody(req, LIMITS, () => undefined).catch((error: unknown) => error);
    const held = heldBytes();
    req.destroy(new Error('the connection broke'));
    expect(await received)
      .to.be.an.instanceOf(GatewayError)
      .with.property('code', 'invalid_request');
    expect(held - heldBytes()).to.be.greaterThan(BYTES * 0.9);
  });

  it('is free once the body is refused', async () => {
    const before = heldBytes();
    const received = receiveBody(begin(), LIMITS, () => {
      throw new GatewayError('invalid_request');
    });
    expect(await received.catch((error: unknown) => error)).to.be.an.instanceOf(GatewayError);
    expect(heldBytes() - before).to.be.lessThan(BYTES * 0.1);
  });

  it('is free chunk by chunk as the body is put together', async () => {
    const req = begin(3 * CHUNK_BYTES + 1_024);
    const chunks = Array.from({ length: 3 }, () => Buffer.allocUnsafeSlow(CHUNK_BYTES).fill('x'));
    const received = receiveBody(req, LIMITS, () => undefined);
    for (const chunk of chunks) req.push(chunk);
    req.push(null);
    expect((await received).toString()).to.equal(' '.repeat(1_024) + 'x'.repeat(3 * CHUNK_BYTES));
    expect(chunks.map(({ length }) => length)).to.deep.equal([0, 0, 0]);
  });

  it('is free chunk by chunk as the body is discarded, what had come before like what comes then', async () => {
    const req = begin();
    const early = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const late = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const shared = Buffer.allocUnsafeSlow(2 * CHUNK_BYTES);
    req.push(early);
    discardBody(req);
    discardBody(req);
    req.push(late);
    req.push(shared.subarray(CHUNK_BYTES));
    req.push(null);
    await once(req, 'end');
    expect([early, late, shared].map(({ length }) => length)).to.deep.equal([0, 0, 2 * CHUNK_BYTES]);
    expect(req.listenerCount('data')).to.equal(1);
  });

  it('is given back by who has read it, while that of a short one is left alone', () => {
    const long = Buffer.allocUnsafeSlow(BYTES);
    const short = Buffer.from('{}');
    freeMemory(long);
    freeMemory(short);
    expect(long).to.have.lengthOf(0);
    expect(short.toString()).to.equal('{}');
  });
});

describe('a short body', () => {
  const receive = (req: IncomingMessage): Promise<unknown> =>
    receiveBody(req, LIMITS, () => undefined).catch((error: unknown) => error);

  it('is received piece by piece, and waits where a piece is looked at', async () => {
    const req = begin(2_048);
    const seen: number[] = [];
    const received = receiveBody(req, LIMITS, async (_chunk, bytes) => {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(bytes);
    });
    req.push(Buffer.alloc(1_024, 0x21));
    req.push(null);
    expect((await received).toString()).to.equal(' '.repeat(1_024) + '!'.repeat(1_024));
    expect(seen).to.deep.equal([1_024, 2_048]);
  });

  it('that breaks off is refused, also when it did before it was asked for', async () => {
    const req = begin(2_048);
    const received = receive(req);
    req.destroy(new Error('the connection broke'));
    for (const error of [await received, await receive(req)])
      expect(error).to.be.an.instanceOf(GatewayError).with.property('code', 'invalid_request');
  });

  it('is read on to its end after a refusal, so that its sender can read the answer', async () => {
    const req = begin(2_048);
    const refused = await receiveBody(req, LIMITS, () => {
      throw new GatewayError('payload_too_large');
    }).catch((error: unknown) => error);
    expect(refused).to.be.an.instanceOf(GatewayError).with.property('code', 'payload_too_large');
    req.push(Buffer.alloc(1_024));
    req.push(null);
    await new Promise((resolve) => req.once('end', resolve));
  });
});
