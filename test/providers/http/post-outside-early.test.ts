// Posting to a receiver that answers, in part, before it has the request, and closes.
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createPostOutside } from '../../../providers/http/post-outside.ts';

/** Until the client has seen what the receiver did. */
const SEEN_MS = 20;

describe('postOutside to a receiver that answers early', () => {
  it('ends when the answer broke off before the request was written', async () => {
    const gone = Promise.withResolvers<void>();
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('close', () => gone.resolve());
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nx', () => socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const post = createPostOutside({ trustsOrigin: ({ hostname }) => hostname === '127.0.0.1' });
    const { kind } = await post(`http://127.0.0.1:${port}/`, {
      ...{ headers: {}, body: '{}', receiver: 'one', timeoutMs: 300, answerBytesMax: 10, answerMs: 100 },
      beforeWrite: async (write) => {
        const written = write();
        await gone.promise;
        await sleep(SEEN_MS);
        await written;
      },
    });
    expect(kind).to.be.oneOf(['answered', 'unreachable']);
    server.close();
  });
});
