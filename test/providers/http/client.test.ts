// The outbound call: what went wrong, whether the vendor may have taken the work, and where it stops reading.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { sendRequest, requestJson, type UpstreamRequest } from '../../../providers/http/client.ts';
import { readRetryAfter } from '../../../providers/http/status.ts';
import {
  failureOf,
  sendEndlessly,
  sendJson,
  startStandIn,
  verdictOf,
  type Play,
  type StandIn,
} from '../stand-in.ts';

describe('a call to a vendor', () => {
  let standIn: StandIn;
  let play: Play = (res) => sendJson(res, 200, {});

  before(async () => {
    standIn = await startStandIn((res, req) => play(res, req));
  });
  after(() => standIn.close());

  function call(changes: Partial<UpstreamRequest> = {}): UpstreamRequest {
    const { url } = standIn;
    return {
      method: 'POST',
      url,
      headers: {},
      body: '{}',
      timeoutMs: 2_000,
      bytesMax: 1_000_000,
      ...changes,
    };
  }

  it('answers with the parsed body, the headers and the vendor’s own request id', async () => {
    play = (res) => sendJson(res, 200, { id: 'x' }, { 'x-request-id': 'req_1' });
    const answer = await requestJson(call());
    expect(answer.json).to.deep.equal({ id: 'x' });
    expect(answer.upstreamRequestId).to.equal('req_1');
    expect(answer.headers['content-type']).to.equal('application/json');
  });

  it('asks for an answer that is not compressed, so that nothing can grow while it is read', async () => {
    play = (res) => sendJson(res, 200, {});
    await sendRequest(call({ headers: { 'accept-encoding': 'gzip' } }));
    expect(standIn.received.at(-1)?.headers['accept-encoding']).to.equal('identity');
  });

  it('reads an empty body as null', async () => {
    play = (res) => res.writeHead(202).end();
    expect((await requestJson(call())).json).to.equal(null);
  });

  it('hands work over on a connection of its own', async () => {
    play = (res) => sendJson(res, 200, {});
    const before = standIn.connections();
    for (let calls = 0; calls < 3; calls += 1) await sendRequest(call());
    expect(standIn.connections() - before).to.equal(3);
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
      const url = standIn.url.replace('http:', 'https:');
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
      const before = standIn.received.length;
      const failure = await failureOf(sendRequest(call({ signal: AbortSignal.abort() })));
      expect(verdictOf(failure)).to.equal('transient, not_received');
      expect(standIn.received.length).to.equal(before);
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
    for (const { title, play: answer, verdict } of cases) {
      it(`is ${verdict} when it was ${title}`, async () => {
        play = answer;
        expect(verdictOf(await failureOf(requestJson(call())))).to.equal(verdict);
      });
    }

    it('is transient, unknown when the vendor stays silent, before its answer or in the middle of it', async () => {
      play = (res, { path }) => {
        if (path === '/half') res.writeHead(200).write('{');
      };
      const causes = ['/none', '/half'].map(async (path) => {
        const failure = await failureOf(
          sendRequest(call({ url: `${standIn.url}${path}`, timeoutMs: 1_000 })),
        );
        expect(verdictOf(failure)).to.equal('transient, unknown');
        return failure.cause;
      });
      const codes = (await Promise.all(causes)).map((cause) => (cause as { code?: string }).code);
      expect(codes).to.deep.equal(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
    }).timeout(10_000);

    it('is given up in the end when the vendor sends a byte now and then', async () => {
      play = (res) => {
        const timer = setInterval(() => res.write(' '), 10);
        res.once('close', () => clearInterval(timer));
      };
      expect(verdictOf(await failureOf(sendRequest(call({ timeoutMs: 50 }))))).to.equal('transient, unknown');
    });

    it('is closed at the vendor as soon as the caller aborts', async () => {
      const controller = new AbortController();
      const closed = new Promise((resolve) => {
        play = (res) => {
          res.once('close', resolve);
          controller.abort();
        };
      });
      const failure = await failureOf(sendRequest(call({ signal: controller.signal })));
      expect(verdictOf(failure)).to.equal('transient, unknown');
      await closed;
    });
  });

  describe('that is answered with an error', () => {
    const verdicts: Record<number, string> = {
      302: 'invalid_response, refused',
      400: 'invalid, refused',
      401: 'auth, not_received',
      402: 'quota, not_received',
      403: 'auth, not_received',
      404: 'model_retired, refused',
      408: 'transient, unknown',
      410: 'model_retired, refused',
      413: 'invalid, refused',
      422: 'invalid, refused',
      429: 'rate, not_received',
      500: 'transient, unknown',
      502: 'transient, unknown',
      503: 'transient, not_received',
      504: 'transient, unknown',
      520: 'transient, unknown',
    };
    for (const [status, verdict] of Object.entries(verdicts)) {
      it(`is ${verdict} for ${status}`, async () => {
        play = (res) => sendJson(res, Number(status), { error: { message: 'no' } });
        expect(verdictOf(await failureOf(requestJson(call())))).to.equal(verdict);
      });
    }

    const texts: { title: string; body: string; text: string | null }[] = [
      { title: 'an error object', body: '{"error":{"message":"bad size","code":"x"}}', text: 'bad size' },
      { title: 'a code and a text', body: '{"code":"Some code","error":"bad size"}', text: 'bad size' },
      { title: 'a text alone', body: '{"error":"bad size"}', text: 'bad size' },
      { title: 'plain text', body: 'bad size', text: 'bad size' },
      { title: 'HTML', body: '<html>bad size</html>', text: null },
      { title: 'cut JSON', body: '{"error":{"mess', text: null },
      { title: 'nothing', body: '', text: null },
    ];
    for (const { title, body, text } of texts) {
      it(`has the vendor’s words from ${title}`, async () => {
        play = (res) => res.writeHead(400).end(body);
        expect((await failureOf(requestJson(call()))).text).to.equal(text);
      });
    }

    it('keeps its class when the error body never ends or breaks off', async () => {
      play = (res) => sendEndlessly(res.writeHead(429));
      expect(verdictOf(await failureOf(requestJson(call())))).to.equal('rate, not_received');
      play = (res) => {
        res.writeHead(401, { 'content-length': '100' });
        res.write('{', () => res.destroy());
      };
      expect(verdictOf(await failureOf(requestJson(call())))).to.equal('auth, not_received');
    });

    it('does not follow a redirect, not even to itself', async () => {
      play = (res) => res.writeHead(307, { location: '/elsewhere' }).end();
      const before = standIn.received.length;
      await failureOf(requestJson(call()));
      expect(standIn.received.length - before).to.equal(1);
    });

    it('says how long the vendor asks to wait', async () => {
      play = (res) => sendJson(res, 429, {}, { 'retry-after': '7' });
      expect((await failureOf(requestJson(call()))).retryAfterMs).to.equal(7_000);
    });
  });

  it('reads how long to wait as seconds, milliseconds or a date, and never more than an hour', () => {
    const now = Date.parse('2026-11-21T00:00:00Z');
    const read = (headers: Record<string, string>): number | null => readRetryAfter(headers, now);
    expect(read({ 'retry-after': '1.5' })).to.equal(1_500);
    expect(read({ 'retry-after-ms': '250', 'retry-after': '1' })).to.equal(250);
    expect(read({ 'retry-after': 'Sat, 21 Nov 2026 00:01:00 GMT' })).to.equal(60_000);
    expect(read({ 'retry-after': 'Fri, 20 Nov 2026 00:00:00 GMT' })).to.equal(0);
    expect(read({ 'retry-after': '86400' })).to.equal(3_600_000);
    expect(read({ 'retry-after': 'soon' })).to.equal(null);
    expect(read({})).to.equal(null);
  });
});
