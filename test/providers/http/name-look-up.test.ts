// Looking up foreign names: what a silent name server costs, which is nothing for anyone else.
import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { expect } from 'chai';
import { createLookUp } from '../../../providers/http/name-look-up.ts';

const LOOK_UPS = 50;
/** Two tries of each question, the second one longer. */
const SILENCE_LIMIT_MS = 10_000;

describe('looking up a foreign name', () => {
  const sockets: Socket[] = [];
  afterEach(() => sockets.splice(0).forEach((socket) => socket.close()));

  /** A name server that answers as told; its address. */
  async function startServer(answer?: (question: Buffer) => Buffer): Promise<string> {
    const socket = createSocket('udp4', (question, { port, address }) => {
      if (answer) socket.send(answer(question), port, address);
    });
    sockets.push(socket);
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return `127.0.0.1:${socket.address().port}`;
  }

  it('answers the addresses of the name', async () => {
    const lookUp = createLookUp([await startServer((question) => reply(question, [203, 0, 113, 9]))]);
    expect(await lookUp('receiver.example.com')).to.deep.equal(['203.0.113.9']);
  });

  it('rejects a name that there is not', async () => {
    const lookUp = createLookUp([await startServer((question) => reply(question, null))]);
    expect(await lookUp('nowhere.example.com').catch(String)).to.include('ENOTFOUND');
  });

  it('ends when the name server is silent, and holds up no other look-up meanwhile', async () => {
    const lookUp = createLookUp([await startServer()]);
    const startedAt = Date.now();
    const silent = Array.from({ length: LOOK_UPS }, (_, index) =>
      lookUp(`n${index}.example.com`).catch(() => Date.now() - startedAt),
    );
    await lookup('localhost');
    const first = await Promise.race([...silent, Promise.resolve('the other came first')]);
    expect(first).to.equal('the other came first');
    for (const ms of await Promise.all(silent)) expect(ms).to.be.below(SILENCE_LIMIT_MS);
  });
});

/** An answer with one address to a question of IPv4, with none to another; null: there is no such name. */
function reply(question: Buffer, address: readonly number[] | null): Buffer {
  const isFour = question.readUInt16BE(question.indexOf(0, 12) + 1) === 1;
  const answers = address && isFour ? 1 : 0;
  const header = Buffer.alloc(12);
  question.copy(header, 0, 0, 2);
  header.writeUInt16BE(address ? 0x8180 : 0x8183, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers, 6);
  const asked = question.subarray(12, question.indexOf(0, 12) + 5);
  const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...(address ?? [])];
  return Buffer.concat([header, asked, Buffer.from(answers > 0 ? record : [])]);
}
