// The caller of a soak tells answers of the gateway from those of a proxy that reaches none.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createCaller, type SoakCaller } from '../../../bench/soak/caller.ts';

describe('the caller of a soak', () => {
  let server: Server;
  let caller: SoakCaller;
  let answer: (res: ServerResponse) => void;

  beforeEach(async () => {
    server = createServer((_req, res) => answer(res));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    caller = createCaller([`http://127.0.0.1:${(server.address() as AddressInfo).port}`]);
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('excuses the page of a proxy that reaches no API', async () => {
    answer = (res) => res.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502 Bad Gateway</h1>');
    expect(await caller.send({}, 'GET', '/v1/models')).to.equal(null);
    expect(caller.counts).to.include({ requests: 1, ofProxy: 1, unanswered: 0 });
    expect(caller.counts.broken.size).to.equal(0);
  });

  it('excuses a connection that breaks', async () => {
    answer = (res) => res.destroy();
    expect(await caller.send({}, 'GET', '/v1/models')).to.equal(null);
    expect(caller.counts).to.include({ ofProxy: 0, unanswered: 1 });
    expect(caller.counts.broken.size).to.equal(0);
  });

  it('excuses no error of the gateway, and no answer without a request id', async () => {
    const error = JSON.stringify({ error: { code: 'internal_error', type: 'api_error', message: 'x' } });
    answer = (res) => res.writeHead(500, { 'content-type': 'application/json' }).end(error);
    await caller.send({}, 'GET', '/v1/models');
    const problems = [...caller.counts.broken.keys()];
    expect(problems).to.include('GET /v1/models: 500 internal_error');
    expect(problems).to.include('GET /v1/models: no x-request-id');
  });
});
