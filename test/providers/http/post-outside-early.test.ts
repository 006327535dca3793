// Posting to a receiver that answers, in part, before it has the request, and closes.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { createPostOutside } from '../../../providers/http/post-outside.ts';

describe('postOutside to a receiver that answers early', () => {
  it('ends when the answer broke off before the request was written', async () => {
    const seen = Promise.withResolvers<void>();
    const watchSocket = (message: unknown): void => {
      const { socket } = message as { socket: Socket };
      socket.once('close', () => seen.resolve());
    };
    subscribe('net.client.socket', watchSocket);
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nx', () => socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const post = createPostOutside({ trustsOrigin: ({ hostname }) => hostname === '127.0.0.1' });
    const { kind } = await post(`http://127.0.0.1:${port}/`, {
      ...{ headers: {}, body: '{}', receiver: 'one', timeoutMs: 300, answerBytesMax: 10, answerMs: 600_000 },
      beforeWrite: async (write) => {
        const written = write();
        await seen.promise;
        await written;
      },
    });
    unsubscribe('net.client.socket', watchSocket);
    expect(kind).to.be.oneOf(['answered', 'unreachable']);
    server.close();
  });
});
