// Bodies that come after their answer are read on for a few at once of a sender, and no longer of the others.
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { DISCARDED_BODIES_MAX } from '../../../api/middleware/unread-bodies.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';

/** More than the kernel takes for a process that does not read. */
const BODY_BYTES = 24 * 1024 ** 2;

interface Sent {
  answer: string;
  isWritten: boolean;
  isClosed: boolean;
}

describe('bodies that come after their answer', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let neighbour: TestUser;
  const sockets: Socket[] = [];

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser();
    neighbour = await gateway.createUser();
    for (const { key } of [owner, neighbour]) expect((await key.get('/v1/models')).status).to.equal(200);
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    await gateway.stop();
  });

  /** Sends a body of a type that is refused by its headers, and does not wait for the answer. */
  const sendRefused = ({ apiKey }: TestUser, header = 'x-none: x'): Sent => {
    const sent = { answer: '', isWritten: false, isClosed: false };
    const socket = connect(Number(new URL(gateway.baseUrl).port), '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined).on('close', () => (sent.isClosed = true));
    socket.on('data', (text: Buffer) => (sent.answer += text.toString()));
    socket.write(
      [
        `POST /v1/estimates HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\n${header}`,
        `authorization: Bearer ${apiKey}\r\ncontent-length: ${BODY_BYTES}\r\n\r\n`,
      ].join('\r\n'),
    );
    socket.write(Buffer.alloc(BODY_BYTES), (error) => (sent.isWritten = !error));
    return sent;
  };

  it('are read to their end for eight of a user at once; the others’ connections end, with their answer', async () => {
    const all = Array.from({ length: DISCARDED_BODIES_MAX + 2 }, () => sendRefused(owner));
    await until('all are answered', async () => all.every(({ answer }) => answer.includes('\r\n\r\n')));
    for (const { answer } of all) expect(answer).to.match(/^HTTP\/1.1 415 /);
    const beside = sendRefused(neighbour);
    await until('each is read or closed', async () =>
      all.every(({ isWritten, isClosed }) => isWritten || isClosed),
    );
    expect(all.filter(({ isClosed }) => isClosed)).to.have.length(2);
    await until('the neighbour’s is read', async () => beside.isWritten);
    expect(beside.isClosed).to.equal(false);
  });

  it('are counted while they come: a user whose bodies were read has as many again', async () => {
    const again = sendRefused(owner);
    await until('it is read or closed', async () => again.isWritten || again.isClosed);
    expect(again).to.include({ isWritten: true, isClosed: false });
  });

  it('are read before a connection closes that ends with the answer, which its sender reads last', async () => {
    const last = sendRefused(owner, 'connection: close');
    sockets.at(-1)?.pause();
    await until('all is sent', async () => last.isWritten || last.isClosed);
    expect(last).to.include({ isWritten: true, isClosed: false });
    sockets.at(-1)?.resume();
    await until('the connection ends', async () => last.isClosed);
    expect(last.answer).to.match(/^HTTP\/1.1 415 .*\r\nconnection: close\r\n/is);
  });
});
