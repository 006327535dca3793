// Tracks requests whose body or answer is under way, and ends those whose caller sends or takes too little.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { GatewayError, type ErrorCode } from '../../domain/errors.ts';
import { bodyOfError, noteErrorCode } from './error-body.ts';
import { isUnread, type AnswerProgress, type UnreadAnswerLimits } from './unread-answers.ts';

export interface Exchanges {
  add(req: IncomingMessage, res: ServerResponse): void;
  /**
   * Answers the request that broke on this connection; `false` when none had begun. A request that had
   * arrived whole keeps its own answer, and the connection ends with that answer.
   */
  refuse(socket: Duplex, code: ErrorCode): boolean;
  /** Ends each connection with its next answer, from now on. */
  closeAfterAnswers(): void;
  /** Whether a request on this connection is still to be answered or read. */
  isBusy(socket: Duplex): boolean;
  stop(): void;
}

interface Exchange {
  req: IncomingMessage;
  res: ServerResponse;
  bytesRead: number;
  silentSince: number;
  /** When the present window of `bodyWindowMs` began, and how many bytes had come before it. */
  windowBeganAt: number;
  bytesBefore: number;
  answer: AnswerProgress;
}

export interface SlowCallerLimits extends UnreadAnswerLimits {
  /** Longest silence within a body. */
  bodyStallMs: number;
  /** Fewest bytes of a body in each `bodyWindowMs`, so that drops do not hold a request for minutes. */
  bodyWindowBytesMin: number;
  bodyWindowMs: number;
  /** Interval at which slow callers are looked for. */
  checkEveryMs: number;
}

export function trackExchanges(limits: SlowCallerLimits): Exchanges {
  const underWay = new ExchangesUnderWay();
  let isClosing = false;

  const endSlow = (): void => {
    const now = performance.now();
    for (const exchange of underWay.all()) {
      underWay.settle(exchange);
      const { req, res, answer } = exchange;
      if (!req.complete) {
        if (isTooSlow(exchange, limits, now)) refuse(exchange, 'request_timeout');
      } else if (isUnread(answer, res, limits, now)) req.socket.destroy();
    }
  };
  const timer = setInterval(endSlow, limits.checkEveryMs);
  timer.unref();

  return {
    add: (req, res) => {
      const { bytesRead } = req.socket;
      const now = performance.now();
      const exchange = {
        req,
        res,
        bytesRead,
        silentSince: now,
        windowBeganAt: now,
        bytesBefore: bytesRead,
        answer: { bytesTaken: 0, movedAt: now },
      };
      underWay.add(exchange);
      if (isClosing) res.shouldKeepAlive = false;
      res.once('close', () => underWay.settle(exchange));
    },
    refuse: (socket, code) => {
      const mine = underWay.on(socket);
      const broken = mine.find(({ req }) => !req.complete);
      if (broken) refuse(broken, code);
      const last = mine.findLast(({ req, res }) => req.complete && !res.writableFinished);
      if (last) closeAfter(last.res);
      return broken !== undefined || last !== undefined;
    },
    closeAfterAnswers: () => {
      isClosing = true;
      // Of several requests on one connection, the last answer ends the connection.
      const lastOnes = new Map(underWay.all().map(({ req, res }) => [req.socket, res]));
      for (const res of lastOnes.values()) closeAfter(res);
    },
    isBusy: (socket) => underWay.on(socket).length > 0,
    stop: () => clearInterval(timer),
  };
}

/**
 * By connection, in arrays: V8 links each table of a Set to the one that it became, and a dead old table
 * keeps all later ones with what was in them, until the whole heap is collected.
 */
class ExchangesUnderWay {
  readonly #of = new Map<Duplex, Exchange[]>();

  on(socket: Duplex): readonly Exchange[] {
    return this.#of.get(socket) ?? [];
  }

  all(): Exchange[] {
    return [...this.#of.values()].flat();
  }

  add(exchange: Exchange): void {
    const { socket } = exchange.req;
    const mine = this.#of.get(socket);
    if (mine) {
      mine.push(exchange);
      return;
    }
    this.#of.set(socket, [exchange]);
    socket.once('close', () => this.#of.delete(socket));
  }

  /** Takes an exchange out that has come to its end. */
  settle(exchange: Exchange): void {
    const { req, res } = exchange;
    if (!(res.closed && req.complete) && !req.socket.destroyed) return;
    const mine = this.#of.get(req.socket) ?? [];
    const place = mine.indexOf(exchange);
    if (place >= 0) mine.splice(place, 1);
  }
}

/** Notes what has come since the last look, and tells whether it was too little. */
function isTooSlow(exchange: Exchange, limits: SlowCallerLimits, now: number): boolean {
  const { bytesRead } = exchange.req.socket;
  // While bytes wait to be taken, the delay is ours.
  if (bytesRead !== exchange.bytesRead || exchange.req.readableLength > 0) {
    exchange.bytesRead = bytesRead;
    exchange.silentSince = now;
  }
  if (now - exchange.silentSince >= limits.bodyStallMs) return true;
  if (now - exchange.windowBeganAt < limits.bodyWindowMs) return false;
  const isFast = bytesRead - exchange.bytesBefore >= limits.bodyWindowBytesMin;
  exchange.windowBeganAt = now;
  exchange.bytesBefore = bytesRead;
  return !isFast && exchange.req.readableLength === 0;
}

function closeAfter(res: ServerResponse): void {
  res.shouldKeepAlive = false;
  // The headers already sent promise to keep the connection.
  if (res.headersSent) res.once('finish', () => res.req.socket.destroySoon());
}

/** Sends an error, or cuts the connection if an answer has begun: half an answer must not look whole. */
function refuse({ req, res }: Exchange, code: ErrorCode): void {
  if (res.headersSent) {
    req.socket.destroy();
    return;
  }
  const error = new GatewayError(code);
  noteErrorCode(res, code);
  const body = JSON.stringify(bodyOfError(error, String(res.getHeader('x-request-id'))));
  res.writeHead(error.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    connection: 'close',
  });
  res.end(body);
}
