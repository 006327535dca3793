// What a handler is given of a request, and what it gives back while its answer waits.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import express from 'express';
import type { RequestContext } from '../../../api/context.ts';
import { createContext } from '../../../api/http/create-context.ts';
import { createHttpServer } from '../../../api/http/http-server.ts';
import { ROUTES } from '../../../api/app.ts';
import { listen } from '../../../runtime/listener.ts';
import { startGateway, type TestGateway } from '../../support/servers/gateway.ts';

describe('the context of a request', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());

  it('holds no body any more that its handler has dropped, and is made of a request that is Express’s', async () => {
    const app = express();
    const collectGarbage = garbageCollector();
    app.use((req, res) => {
      const { context, body } = contextOf(req, res);
      context.dropBody();
      setImmediate(() => {
        collectGarbage();
        const isHeld = body.deref() !== undefined;
        res.json({ isHeld, header: context.header('x-of'), isEmpty: noFields(context) });
      });
    });
    const { server } = createHttpServer(app);
    const prototypes: object[] = [];
    server.prependListener('request', (req) => prototypes.push(Object.getPrototypeOf(req)));
    const port = await listen(server, 0, '127.0.0.1');
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { 'x-of': 'a test' } });
    expect(await answer.json()).to.deep.equal({ isHeld: false, header: 'a test', isEmpty: true });
    expect(prototypes).to.deep.equal([app.request]);
    server.closeAllConnections();
    server.close();
  });

  /** In a function of its own, so that nothing but the context holds the body. */
  function contextOf(req: express.Request, res: express.Response) {
    const [route] = ROUTES;
    if (!route) throw new Error('there are no routes');
    const held = { text: 'x'.repeat(1_000) };
    req.body = held;
    const trace = { taskId: null, chat: null };
    Object.assign(res.locals, {
      caller: { proof: 'none' },
      requestId: 'req_1',
      trace,
      limitBackend: 'memory',
    });
    return { context: createContext(gateway.services, route, req, res), body: new WeakRef(held) };
  }
});

function noFields({ body }: RequestContext): boolean {
  return Object.keys(body).length === 0;
}

/** V8's own, which programs are not given without a flag. */
function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('V8 gives no collector');
  return () => void collect();
}
