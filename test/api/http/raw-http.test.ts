// Malformed or oversized HTTP, sent over raw sockets, gets the same error body as other requests.
import { connect } from 'node:net';
import { expect } from 'chai';
import { createApp } from '../../../api/app.ts';
import { createHttpServer, type HttpServer } from '../../../api/http/http-server.ts';
import { listen } from '../../../runtime/listener.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { restoreClock, setClock } from '../../support/clock.ts';
import { converse, type Conversation, type Piece } from '../../support/http/raw.ts';

describe('the HTTP server', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let http: HttpServer;
  let port: number;
  const refused: string[] = [];

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser();
    http = createHttpServer(createApp(gateway.services), {
      limits: {
        ...{ headersMs: 400, bodyStallMs: 400, requestMs: 2_500, checkEveryMs: 50 },
        ...{ bodyWindowMs: 1_000, bodyWindowBytesMin: 12 },
      },
      onRefused: ({ code }) => void refused.push(code),
    });
    port = await listen(http.server, 0, '127.0.0.1');
  });
  after(async () => {
    http.server.closeAllConnections();
    await http.close();
    await gateway.stop();
  });
  beforeEach(() => {
    refused.length = 0;
  });

  const talk = (...pieces: (Piece | Piece[])[]): Promise<Conversation> =>
    converse(`http://127.0.0.1:${port}`, pieces.flat());
  const authorized = (): string => `host: x\r\nauthorization: Bearer ${owner.apiKey}\r\n`;
  const post = (extra: string): string =>
    `POST /v1/estimates HTTP/1.1\r\n${authorized()}content-type: application/json\r\n${extra}\r\n`;
  const good = JSON.stringify({ mode: 'image', model: 'gpt-image-2', prompt: 'a cat' });

  function expectRefusal(conversation: Conversation, status: number, code: string): void {
    const { answers, closed } = conversation;
    const answer = answers.at(-1);
    expect(answer?.status).to.equal(status);
    expect(answer?.headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(answer?.headers['x-content-type-options']).to.equal('nosniff');
    expect(answer?.headers['referrer-policy']).to.equal('no-referrer');
    expect(answer?.headers['content-security-policy']).to.contain("default-src 'none'");
    expect(answer?.headers['cache-control']).to.equal('no-store');
    const { error } = JSON.parse(answer?.body ?? '{}');
    expect(error).to.include({ code, type: 'invalid_request_error', param: null });
    expect(error.request_id).to.equal(answer?.headers['x-request-id']);
    expect(error.request_id).to.match(/^[A-Za-z0-9._-]{1,64}$/);
    expect(closed, 'the connection is closed').to.equal(true);
  }

  for (const [what, text] of [
    ['no HTTP', 'hello there\r\n\r\n'],
    [
      'two lengths',
      'POST /v1/estimates HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\na',
    ],
    [
      'a length and chunks',
      'POST /v1/estimates HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\na',
    ],
    ['a negative length', 'POST /v1/estimates HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n'],
    ['no name of a host', 'GET /v1/models HTTP/1.1\r\nconnection: close\r\n\r\n'],
    ['two names of hosts', 'GET /v1/models HTTP/1.1\r\nhost: x\r\nHost: y\r\nconnection: close\r\n\r\n'],
    ['the same name twice', 'GET /v1/models HTTP/1.1\r\nhost: x\r\nhost: x\r\nconnection: close\r\n\r\n'],
  ] as const)
    it(`answers ${what} with 400 and closes`, async () => {
      expectRefusal(await talk(text), 400, 'invalid_request');
    });

  it('answers headers of 20 kB with 431 and counts them', async () => {
    const text = `GET /v1/models HTTP/1.1\r\n${authorized()}x-long: ${'a'.repeat(20_000)}\r\n\r\n`;
    expectRefusal(await talk(text), 431, 'headers_too_large');
    expect(refused).to.deep.equal(['headers_too_large']);
  });

  it('answers a URL of 9 kB and one of 20 kB with 414', async () => {
    const long = (characters: number): string =>
      `GET /v1/models?x=${'a'.repeat(characters)} HTTP/1.1\r\n${authorized()}connection: close\r\n\r\n`;
    expectRefusal(await talk(long(9_000)), 414, 'uri_too_long');
    expectRefusal(await talk(long(20_000)), 414, 'uri_too_long');
  });

  it('answers an unknown expectation with 417', async () => {
    const text = `GET /v1/models HTTP/1.1\r\n${authorized()}expect: foo\r\nconnection: close\r\n\r\n`;
    expectRefusal(await talk(text), 417, 'expectation_failed');
  });

  it('asks for an expected body when it wants it', async () => {
    const { answers } = await talk(
      post(`expect: 100-continue\r\nconnection: close\r\ncontent-length: ${good.length}\r\n`),
      { after: 'HTTP/1.1 100 Continue', text: good },
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([100, 200]);
  });

  it('never asks a stranger for a body', async () => {
    const text = `POST /v1/estimates HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n`;
    const { answers, closed } = await talk(text);
    expect(answers.map(({ status }) => status)).to.deep.equal([401]);
    expect(closed).to.equal(true);
  });

  it('gives up on headers that come too slowly with 408', async () => {
    expectRefusal(await talk('GET /v1/models HTTP/1.1\r\nhost: x\r\n'), 408, 'request_timeout');
  });

  it('gives up on a body that stalls with 408, and creates nothing', async () => {
    expectRefusal(await talk(post('content-length: 100\r\n') + '{"model":'), 408, 'request_timeout');
    expect(refused, 'it was a request already').to.deep.equal([]);
    expect(gateway.logged()).to.match(/"route":"\/v1\/estimates","status":408,"code":"request_timeout"/);
  });

  it('lets a slow but steady body through', async () => {
    const pieces = good.match(/.{1,8}/gs) ?? [];
    const { answers } = await talk(
      post(`connection: close\r\ncontent-length: ${good.length}\r\n`),
      pieces.map((text) => ({ afterMs: 150, text })),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([200]);
  });

  it('lets a body through although the clock is set ahead by an hour meanwhile', async () => {
    const pieces = [
      good.slice(0, 9),
      { text: '', afterMs: 120, when: async () => setClock(3_600_000) },
      { text: good.slice(9), afterMs: 150 },
    ];
    const { answers } = await talk(post(`connection: close\r\ncontent-length: ${good.length}\r\n`), pieces);
    restoreClock();
    expect(answers.map(({ status }) => status)).to.deep.equal([200]);
  });

  it('gives up on a body that takes for ever, however steadily it comes', async () => {
    const pieces = Array.from({ length: 40 }, () => ({ afterMs: 100, text: '  ' }));
    const startedAt = performance.now();
    expectRefusal(await talk(post('content-length: 1000\r\n'), pieces), 408, 'request_timeout');
    expect(performance.now() - startedAt).to.be.above(2_400);
  });

  it('gives up on a body that drips, long before its time is over', async () => {
    const drops = Array.from({ length: 40 }, () => ({ afterMs: 200, text: ' ' }));
    const startedAt = performance.now();
    expectRefusal(await talk(post('content-length: 1000\r\n'), drops), 408, 'request_timeout');
    expect(performance.now() - startedAt).to.be.below(2_400);
  });

  it('keeps the answer of a request that was whole before the next one broke', async () => {
    const whole = `GET /v1/models HTTP/1.1\r\n${authorized()}\r\n`;
    const { answers, closed } = await talk(`${whole}nonsense\r\n\r\n`);
    expect(answers[0]?.status).to.equal(200);
    expect(closed).to.equal(true);
  });

  it('answers others while a hundred slow senders hold their sockets', async () => {
    const slow = Array.from({ length: 100 }, () => connect(port, '127.0.0.1'));
    for (const socket of slow) socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nx: ');
    const { answers } = await talk(`GET /v1/models HTTP/1.1\r\n${authorized()}connection: close\r\n\r\n`);
    expect(answers[0]?.status).to.equal(200);
    for (const socket of slow) socket.destroy();
  });
});
