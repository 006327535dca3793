// Requests that fetch refuses to send: any method, an unnormalised path, an announced body that never comes.
import { request, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expectDocumented } from '../../../dev/documented.ts';

export interface RawRequest {
  method?: string;
  /** Sent unchanged, dots and percent signs included. */
  path: string;
  headers?: Record<string, string>;
  body?: Buffer;
  /** Announces this many bytes and sends none of them. */
  announcedBytes?: number;
  /** Skips comparing the response with the OpenAPI document; the test itself says what is right. */
  undocumented?: true;
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export async function sendRaw(baseUrl: string, raw: RawRequest): Promise<RawAnswer> {
  const answer = await exchange(baseUrl, raw);
  if (!raw.undocumented) {
    const isJson = answer.headers['content-type']?.startsWith('application/json') && answer.text !== '';
    const given = {
      status: answer.status,
      headers: { get: (name: string) => answer.headers[name.toLowerCase()]?.toString() ?? null },
      body: isJson ? JSON.parse(answer.text) : null,
    };
    expectDocumented(raw.method ?? 'GET', raw.path, given);
  }
  return answer;
}

function exchange(baseUrl: string, raw: RawRequest): Promise<RawAnswer> {
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

/** Headers that describe the response: all but the date, the connection and the state of limits. */
export function tellingHeaders({ headers }: RawAnswer): IncomingHttpHeaders {
  const { date: _date, connection: _connection, 'keep-alive': _keepAlive, ...telling } = headers;
  return Object.fromEntries(Object.entries(telling).filter(([name]) => !/^(x-)?ratelimit/.test(name)));
}

/** Text to write: at once, after a time, after an output of the server, or after `when` has resolved. */
export type Piece =
  | string
  | { text: string; afterMs?: number; after?: string; when?: () => Promise<unknown> };

export interface Conversation {
  /** Responses in their order, interim ones included. */
  answers: { status: number; headers: Record<string, string>; body: string }[];
  /** Whether the server closed the connection. */
  closed: boolean;
}

const CONVERSATION_LIMIT_MS = 8_000;

/** Writes the pieces byte for byte and reads until the server closes, or until the time limit. */
export function converse(baseUrl: string, pieces: readonly Piece[]): Promise<Conversation> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname);
    let received = '';
    let heard = Promise.withResolvers<void>();
    socket.setEncoding('latin1');
    socket.on('data', (data) => {
      received += String(data);
      heard.resolve();
      heard = Promise.withResolvers();
    });
    socket.on('error', () => undefined); // a server that closes while we write
    const limit = setTimeout(() => socket.destroy(), CONVERSATION_LIMIT_MS);
    let closed = false;
    socket.on('end', () => {
      closed = true;
    });
    socket.on('close', () => {
      clearTimeout(limit);
      heard.resolve();
      resolve({ answers: readAnswers(received), closed });
    });
    const write = async (): Promise<void> => {
      for (const piece of pieces) {
        const {
          text,
          afterMs = 0,
          after = '',
          when,
        }: Exclude<Piece, string> = typeof piece === 'string' ? { text: piece } : piece;
        if (afterMs > 0) await new Promise((passed) => setTimeout(passed, afterMs));
        while (!received.includes(after) && !socket.destroyed) await heard.promise;
        await when?.();
        if (socket.writable) socket.write(text);
      }
    };
    void write();
  });
}

function readAnswers(received: string): Conversation['answers'] {
  const answers: Conversation['answers'] = [];
  let rest = received;
  for (let end = rest.indexOf('\r\n\r\n'); end >= 0; end = rest.indexOf('\r\n\r\n')) {
    const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    const bodyEnd = end + 4 + Number(headers['content-length'] ?? 0);
    const body = Buffer.from(rest.slice(end + 4, bodyEnd), 'latin1').toString('utf8');
    answers.push({ status: Number(statusLine.split(' ')[1]), headers, body });
    rest = rest.slice(bodyEnd);
  }
  return answers;
}
