// Requests that fetch refuses to send: any method, a path as it stands, a body that is announced but never comes.
import { request, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';

export interface RawRequest {
  method?: string;
  /** Sent as it is, dots and percent signs included. */
  path: string;
  headers?: Record<string, string>;
  body?: Buffer;
  /** Announces this many bytes and sends none of them. */
  announcedBytes?: number;
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export function sendRaw(baseUrl: string, raw: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl);
  const announced = raw.announcedBytes === undefined ? {} : { 'content-length': String(raw.announcedBytes) };
  return new Promise((resolve, reject) => {
    const { method = 'GET', path } = raw;
    const headers = { ...announced, ...raw.headers };
    const sending = request({ hostname, port, method, path, headers, agent: false }, (response) => {
      text(response)
        .then((body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, text: body }))
        .catch(reject)
        .finally(() => sending.destroy());
    });
    sending.on('error', reject);
    if (raw.announcedBytes === undefined) sending.end(raw.body);
    else sending.flushHeaders();
  });
}

/** All headers of an answer that say something about it: everything but the clock and the connection. */
export function tellingHeaders({ headers }: RawAnswer): IncomingHttpHeaders {
  const { date: _date, connection: _connection, 'keep-alive': _keepAlive, ...telling } = headers;
  return telling;
}
