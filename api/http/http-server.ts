// Creates the HTTP server: limits time and size, and answers what is too slow, too large or not HTTP.
import { randomUUID } from 'node:crypto';
import { createServer, STATUS_CODES, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatewayError, type ErrorCode } from '../../domain/errors.ts';
import { bodyOfError } from './error-body.ts';
import { SECURITY_HEADERS } from '../middleware/security-headers.ts';
import { messageClassesOf } from './express-messages.ts';
import { trackExchanges, type Exchanges, type SlowCallerLimits } from './exchanges.ts';

export interface HttpLimits extends SlowCallerLimits {
  /** Limit from the first byte of a request to the end of its headers. */
  headersMs: number;
  /** Limit from the first byte of a request to the end of its body, however steadily it comes. */
  requestMs: number;
  /** How long idle connections are kept: longer than load balancers keep theirs, so that they close first. */
  keepAliveMs: number;
  requestsPerConnectionMax: number;
  /** Size limit of request line and headers together. */
  headerBytesMax: number;
}

const HTTP_LIMITS: Readonly<HttpLimits> = {
  headersMs: 10_000,
  bodyStallMs: 30_000,
  bodyWindowBytesMin: 1_500,
  bodyWindowMs: 30_000,
  requestMs: 600_000,
  answerStallMs: 60_000,
  keepAliveMs: 65_000,
  checkEveryMs: 1_000,
  requestsPerConnectionMax: 1_000,
  headerBytesMax: 16 * 1024,
};

/** The longest path with its query, in characters; a longer one is answered 414. */
export const REQUEST_TARGET_CHARACTERS_MAX = 8 * 1024;

export interface HttpServer {
  server: Server;
  /**
   * Announces in each answer from now on that its connection ends, so that callers open their next
   * connection elsewhere. `close` alone would cut off a request that is on its way over an idle connection.
   */
  drain(): void;
  /**
   * Accepts no new connections, closes idle ones now and busy ones with their answer. Resolves when all are
   * closed.
   */
  close(): Promise<void>;
}

export interface HttpServerOptions {
  limits?: Partial<HttpLimits>;
  /** Returns the security headers, for what is refused before it is a request. */
  headers?: () => Readonly<Record<string, string>>;
  /** Called for what was refused before it was a request. */
  onRefused?: (refused: { code: ErrorCode; status: number; requestId: string; ip: string }) => void;
}

/**
 * Answers parser errors and aborted requests on the raw socket: no handler, limiter or log context is
 * created.
 */
export function createHttpServer(app: RequestListener, options: HttpServerOptions = {}): HttpServer {
  const limits = { ...HTTP_LIMITS, ...options.limits };
  const server = createServer({
    ...messageClassesOf(app),
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    keepAliveTimeout: limits.keepAliveMs,
    maxHeaderSize: limits.headerBytesMax,
    requireHostHeader: false, // the app requires it, and answers with an error body
  });
  server.maxRequestsPerSocket = limits.requestsPerConnectionMax;
  const exchanges = trackExchanges(limits);
  const listener: RequestListener = (req, res) => {
    exchanges.add(req, res);
    app(req, res);
  };
  server.on('request', listener);
  server.on('checkExpectation', listener); // the app refuses unknown expectations, with an id and a log line
  // `100 Continue` is sent when a reader attaches: after authentication, and never for a refused request.
  server.on('checkContinue', (req, res) => {
    const invite = (event: string): void => {
      if (event !== 'data' && event !== 'readable') return;
      req.off('newListener', invite);
      if (!res.headersSent) res.writeContinue();
    };
    req.on('newListener', invite);
    listener(req, res);
  });
  refuseBrokenRequests(server, exchanges, options);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    server,
    drain: () => exchanges.closeAfterAnswers(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          exchanges.stop();
          resolve();
        });
        exchanges.closeAfterAnswers();
        server.closeIdleConnections();
        // A closing server no longer looks for slow senders, and never closes a connection that has sent no
        // request.
        const closeUnused = (): void => {
          for (const socket of sockets) if (!exchanges.isBusy(socket)) socket.destroy();
        };
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
        setTimeout(closeUnused, limits.headersMs).unref();
      }),
  };
}

const LINGER_MS = 1_000;

function refuseBrokenRequests(
  server: Server,
  exchanges: Exchanges,
  { headers = () => SECURITY_HEADERS, onRefused }: HttpServerOptions,
): void {
  const refused = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (refused.has(socket)) return; // the parser also reports the bytes after the error
    refused.add(socket);
    const code = codeOf(error);
    if (code === null || !socket.writable) {
      socket.destroy();
      return;
    }
    if (exchanges.refuse(socket, code)) return;
    const requestId = randomUUID();
    const gatewayError = new GatewayError(code);
    const ip = 'remoteAddress' in socket ? String(socket.remoteAddress) : '';
    onRefused?.({ code, status: gatewayError.status, requestId, ip });
    socket.end(rawAnswer(gatewayError, requestId, headers()));
    // Closing at once, with bytes still unread, would reset the connection and lose the answer.
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  });
}

/** Maps an error of Node's parser to a code; null when the connection is gone and no answer can be sent. */
function codeOf(error: NodeJS.ErrnoException & { rawPacket?: Buffer }): ErrorCode | null {
  switch (error.code) {
    case 'ECONNRESET':
    case 'EPIPE':
    case 'HPE_INVALID_EOF_STATE':
      return null;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'request_timeout';
    case 'HPE_HEADER_OVERFLOW':
      return hasLongRequestLine(error.rawPacket) ? 'uri_too_long' : 'headers_too_large';
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 'payload_too_large';
    default:
      return 'invalid_request';
  }
}

/**
 * Whether the request line is what was too long: the parser counts it together with the headers, but the
 * first packet tells.
 */
function hasLongRequestLine(packet: Buffer | undefined): boolean {
  const lineEnd = packet?.indexOf('\r\n') ?? 0;
  return lineEnd < 0 || lineEnd > REQUEST_TARGET_CHARACTERS_MAX;
}

function rawAnswer(error: GatewayError, requestId: string, common: Readonly<Record<string, string>>): string {
  const body = JSON.stringify(bodyOfError(error, requestId));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...common,
    'x-request-id': requestId,
    date: new Date().toUTCString(),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`;
}
