// A proxy in front of the gateway, which takes a prefix off each path as reverse proxies do, and can fall
// silent.
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestProxy {
  url: string;
  /** Cuts all connections and answers none until `mend`. */
  cut(): void;
  mend(): void;
  close(): void;
}

export async function startProxy(target: string, prefix = ''): Promise<TestProxy> {
  let isCut = false;
  const server = createServer((req, res) => {
    if (isCut) return void res.destroy();
    const path = (req.url ?? '/').slice(prefix.length) || '/';
    const headers = { ...req.headers, host: new URL(target).host };
    if (headers.origin !== undefined) headers.origin = target;
    const sent = forward(`${target}${path}`, { method: req.method ?? 'GET', headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
      res.on('close', () => answer.destroy());
    });
    sent.on('error', () => res.destroy());
    req.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${prefix}`,
    cut: () => {
      isCut = true;
      server.closeAllConnections();
    },
    mend: () => void (isCut = false),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
