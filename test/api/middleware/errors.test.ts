// Errors of the database's connections: 503 with a time to try again, whatever the driver calls them.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express, { type RequestHandler } from 'express';
import { answerErrors } from '../../../api/middleware/errors.ts';
import { setRequestId } from '../../../api/middleware/request-id.ts';
import { createLog } from '../../../log.ts';
import { until } from '../../support/until.ts';

describe('an error of a database connection', () => {
  let server: Server;
  let url = '';
  let thrown = new Error();
  let isBegun = false;
  const paramsAtEnd: unknown[] = [];

  before(async () => {
    const app = express();
    const fail: RequestHandler = (_req, res) => {
      if (isBegun) res.write('the beginning');
      throw thrown;
    };
    app.use((req, res, next) => {
      res.once('close', () => paramsAtEnd.push(req.params));
      next();
    });
    const log = createLog({ process: 'test', level: 'silent' });
    app.use(
      setRequestId,
      fail,
      answerErrors(log, () => false),
    );
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    url = `http://127.0.0.1:${port}/`;
  });
  after(() => server.close());

  const withCode = (code: string): Error => Object.assign(new Error('refused'), { code });
  const errors: [title: string, error: Error][] = [
    ['the server was killed', withCode('57P02')],
    ['the server begins', withCode('57P03')],
    ['a transaction stood still for too long', withCode('25P03')],
    ['the connection broke', new Error('Connection terminated unexpectedly')],
    ['it had broken before', new Error('Client has encountered a connection error and is not queryable')],
    ['it was closed', new Error('Client was closed and is not queryable')],
    ['its socket is gone', withCode('ERR_STREAM_DESTROYED')],
    ['there is no way to the server', withCode('EHOSTUNREACH')],
  ];
  for (const [title, error] of errors)
    it(`is 503, to be tried again in a second: ${title}`, async () => {
      thrown = error;
      const answer = await fetch(url);
      expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([503, '1']);
      expect(await answer.json()).to.have.nested.property('error.code', 'service_unavailable');
    });

  it('after the answer has begun cuts the connection, and leaves the request to those who log it', async () => {
    paramsAtEnd.length = 0;
    isBegun = true;
    const read = fetch(url).then((answer) => answer.text());
    expect(await read.catch(() => 'cut').finally(() => (isBegun = false))).to.equal('cut');
    await until('the request is closed', async () => paramsAtEnd.length > 0);
    expect(paramsAtEnd[0]).to.be.an('object');
  });

  it('is no excuse for our own mistakes: those are 500', async () => {
    thrown = new TypeError('undefined is not a function');
    expect((await fetch(url)).status).to.equal(500);
  });
});
