// The outbound call: what went wrong, whether the vendor may have taken the work, and where it stops reading.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { sendRequest, requestJson } from '../../../providers/http/client.ts';
import { failureOf, sendEndlessly, sendJson, verdictOf, type Play } from '../stand-in.ts';
import { describeCalls } from './client-support.ts';

describeCalls((vendor) => {
  const { call } = vendor;

  it('answers with the parsed body, the headers and the vendor’s own request id', async () => {
    vendor.play = (res) => sendJson(res, 200, { id: 'x' }, { 'x-request-id': 'req_1' });
    const answer = await requestJson(call());
    expect(answer.json).to.deep.equal({ id: 'x' });
    expect(answer.upstreamRequestId).to.equal('req_1');
    expect(answer.headers['content-type']).to.equal('application/json');
  });

  it('asks for an answer that is not compressed, so that nothing can grow while it is read', async () => {
    vendor.play = (res) => sendJson(res, 200, {});
    await sendRequest(call({ headers: { 'accept-encoding': 'gzip' } }));
    expect(vendor.received.at(-1)?.headers['accept-encoding']).to.equal('identity');
  });

  it('reads an empty body as null', async () => {
    vendor.play = (res) => res.writeHead(202).end();
    expect((await requestJson(call())).json).to.equal(null);
  });

  it('hands work over on a connection of its own', async () => {
    vendor.play = (res) => sendJson(res, 200, {});
    const before = vendor.connections();
    for (let calls = 0; calls < 3; calls += 1) await sendRequest(call());
    expect(vendor.connections() - before).to.equal(3);
  });

  describe('that surely did not arrive', () => {
    it('is known when nobody listens', async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      server.close();
      await once(server, 'close');
      const failure = await failureOf(sendRequest(call({ url: `http://127.0.0.1:${port}` })));
      expect(verdictOf(failure)).to.equal('transient, not_received');
    });

    it('is known when the name does not exist', async () => {
      const failure = await failureOf(sendRequest(call({ url: 'http://vendor.invalid' })));
      expect(verdictOf(failure)).to.equal('transient, not_received');
    });

    it('is known when the TLS handshake fails', async () => {
      const url = vendor.url.replace('http:', 'https:');
      expect(verdictOf(await failureOf(sendRequest(call({ url }))))).to.equal('transient, not_received');
    });

    it('is known when the connection is cut during the TLS handshake', async () => {
      const server = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const failure = await failureOf(sendRequest(call({ url: `https://127.0.0.1:${port}` })));
      server.close();
      expect(verdictOf(failure)).to.equal('transient, not_received');
    });

    it('is known when it was aborted before it began', async () => {
      const before = vendor.received.length;
      const failure = await failureOf(sendRequest(call({ signal: AbortSignal.abort() })));
      expect(verdictOf(failure)).to.equal('transient, not_received');
      expect(vendor.received.length).to.equal(before);
    });
  });

  describe('of which it is unknown whether it arrived', () => {
    const cases: { title: string; play: Play; verdict: string }[] = [
      { title: 'reset', play: (res) => res.socket?.resetAndDestroy(), verdict: 'transient, unknown' },
      { title: 'closed without an answer', play: (res) => res.destroy(), verdict: 'transient, unknown' },
      {
        title: 'cut in mid-body',
        play: (res) => {
          res.writeHead(200, { 'content-length': '100' });
          res.write('{"id":', () => res.destroy());
        },
        verdict: 'transient, unknown',
      },
      {
        title: 'answered with half a JSON text',
        play: (res) => res.end('{"id":"x'),
        verdict: 'invalid_response, unknown',
      },
      {
        title: 'answered with HTML',
        play: (res) =>
          res.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Hello</body></html>'),
        verdict: 'invalid_response, unknown',
      },
      {
        title: 'answered without end',
        play: (res) => sendEndlessly(res.writeHead(200)),
        verdict: 'invalid_response, unknown',
      },
    ];
    it('is invalid_response, unknown when its answer has more values than a file and what is said of it', async () => {
      const values = Buffer.from(`[${'{},'.repeat(400_000)}{}]`);
      const file = Buffer.from(JSON.stringify({ data: '[{,'.repeat(400_000) }));
      vendor.play = (res, { path }) => res.writeHead(200).end(path === '/file' ? file : values);
      const bytesMax = 2_000_000;
      expect(verdictOf(await failureOf(requestJson(call({ bytesMax }))))).to.equal(
        'invalid_response, unknown',
      );
      const { json } = await requestJson(call({ url: `${vendor.url}/file`, bytesMax }));
      expect(json).to.have.property('data').with.lengthOf(1_200_000);
    });

    for (const { title, play: answer, verdict } of cases) {
      it(`is ${verdict} when it was ${title}`, async () => {
        vendor.play = answer;
        expect(verdictOf(await failureOf(requestJson(call())))).to.equal(verdict);
      });
    }

    it('is transient, unknown when the vendor stays silent, before its answer or in the middle of it', async () => {
      vendor.play = (res, { path }) => {
        if (path === '/half') res.writeHead(200).write('{');
      };
      const causes = ['/none', '/half'].map(async (path) => {
        const failure = await failureOf(sendRequest(call({ url: `${vendor.url}${path}`, timeoutMs: 1_000 })));
        expect(verdictOf(failure)).to.equal('transient, unknown');
        return failure.cause;
      });
      const codes = (await Promise.all(causes)).map((cause) => (cause as { code?: string }).code);
      expect(codes).to.deep.equal(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
    });

    it('is given up in the end when the vendor sends a byte now and then', async () => {
      vendor.play = (res) => {
        const timer = setInterval(() => res.write(' '), 10);
        res.once('close', () => clearInterval(timer));
      };
      expect(verdictOf(await failureOf(sendRequest(call({ timeoutMs: 50 }))))).to.equal('transient, unknown');
    });

    it('is closed at the vendor as soon as the caller aborts', async () => {
      const controller = new AbortController();
      const closed = new Promise((resolve) => {
        vendor.play = (res) => {
          res.once('close', resolve);
          controller.abort();
        };
      });
      const failure = await failureOf(sendRequest(call({ signal: controller.signal })));
      expect(verdictOf(failure)).to.equal('transient, unknown');
      await closed;
    });
  });
});
