// Answers whose caller does not read them are cut; slow readers and answers that pause get all of it.
import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pass } from 'node:timers/promises';
import { expect } from 'chai';
import { createHttpServer, type HttpServer } from '../../../api/http/http-server.ts';
import { openEventStream, type EventStream } from '../../../api/events/event-stream.ts';
import { isUnread, leaveToStream, type AnswerProgress } from '../../../api/http/unread-answers.ts';
import { listen } from '../../../runtime/listener.ts';
import { until } from '../../support/until.ts';

const STALL_MS = 400;
const LIMITS = { answerStallMs: STALL_MS };
/** More than the buffers of both sockets hold. */
const ANSWER_BYTES = 32 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
/** Longer than any test. */
const COMMENT_EVERY_MS = 600_000;

describe('an answer', () => {
  let http: HttpServer;
  let port: number;
  /** Cuts no caller while a test plays the clock. */
  let patient: HttpServer;
  let patientPort: number;
  let answer: RequestListener;
  /** The server's connections, in order. */
  let connections: Socket[];
  let caller: Socket | null = null;

  before(async () => {
    http = createHttpServer((req, res) => answer(req, res), {
      limits: { answerStallMs: STALL_MS, checkEveryMs: 50 },
    });
    http.server.on('connection', (socket: Socket) => connections.push(socket));
    port = await listen(http.server, 0, '127.0.0.1');
    patient = createHttpServer((req, res) => answer(req, res));
    patientPort = await listen(patient.server, 0, '127.0.0.1');
  });
  beforeEach(() => {
    connections = [];
  });
  afterEach(() => caller?.destroy());
  after(() => Promise.all([http.close(), patient.close()]));

  const whole: RequestListener = (_, res) => void res.end(Buffer.alloc(ANSWER_BYTES));
  const inPieces: RequestListener = (_, res) => {
    const pieces = Array.from({ length: ANSWER_BYTES / PIECE_BYTES }, () => Buffer.alloc(PIECE_BYTES));
    pipeline(Readable.from(pieces), res).catch(() => undefined); // the caller is cut
  };

  /** Sends a request and reads nothing. */
  async function ask(at = port): Promise<Socket> {
    const socket = connect(at, '127.0.0.1').on('error', () => undefined);
    caller = socket;
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    return socket;
  }

  const isCut = async (): Promise<boolean> => connections[0]?.destroyed === true;

  /** Bytes that come in all, with a pause after each piece of at most 64 KiB. */
  async function countBytes(socket: Socket, pauseMs: number): Promise<number> {
    let bytes = 0;
    for await (const piece of socket) {
      bytes += piece.length;
      await pass(pauseMs);
    }
    return bytes;
  }

  for (const [what, listener] of [
    ['in one piece', whole],
    ['in many pieces', inPieces],
  ] as const) {
    it(`${what} of which nothing is read is cut`, async () => {
      answer = listener;
      await ask();
      await until('it is cut', isCut, 4_000);
    });

    it(`${what} that is read slowly comes to its end`, async () => {
      answer = listener;
      const startedAt = performance.now();
      expect(await countBytes(await ask(), 4)).to.be.above(ANSWER_BYTES);
      expect(performance.now() - startedAt).to.be.above(2 * STALL_MS);
    });
  }

  it('that was read for a while, and then no more, is cut', async () => {
    answer = whole;
    const socket = await ask();
    await once(socket, 'readable');
    socket.read();
    await until('it is cut', isCut, 4_000);
  });

  it('that pauses, with nothing that waits, is not unread however long it takes', async () => {
    const res = await answerWith((sent) => void sent.write('first, '));
    const progress = { bytesTaken: 0, movedAt: 0 };
    await until('it is taken', async () => res.writableLength === 0);
    expect(isUnread(progress, res, LIMITS, 0)).to.equal(false);
    expect(isUnread(progress, res, LIMITS, 3 * STALL_MS)).to.equal(false);
  });

  it('that is a stream of events is unread once none of it is taken for so long', async () => {
    const res = await answerWith(sendLongEvent);
    const progress = await untilNothingIsTaken(res);
    expect(isUnread(progress, res, LIMITS, STALL_MS - 1)).to.equal(false);
    expect(isUnread(progress, res, LIMITS, STALL_MS)).to.equal(true);
  });

  it('that is a stream of events ends when its reader is cut', async () => {
    const { promise: opened, resolve } = Promise.withResolvers<EventStream>();
    answer = (_, res) => resolve(sendLongEvent(res));
    await ask();
    let hasEnded = false;
    void (await opened).ended.then(() => (hasEnded = true));
    await until('it has ended', async () => hasEnded, 4_000);
  });

  it('that is left to its stream is not judged until that ends', async () => {
    const res = await answerWith((sent) => {
      leaveToStream(sent);
      sent.write(Buffer.alloc(ANSWER_BYTES));
    });
    const progress = await untilNothingIsTaken(res);
    expect(isUnread(progress, res, LIMITS, 3 * STALL_MS)).to.equal(false);
    res.end();
    expect(isUnread(progress, res, LIMITS, 4 * STALL_MS)).to.equal(true);
  });

  function sendLongEvent(res: ServerResponse): EventStream {
    res.setHeader('content-type', 'text/event-stream; charset=utf-8');
    const stream = openEventStream(res, COMMENT_EVERY_MS);
    stream.send({ event: 'task', id: '1', data: 'x'.repeat(ANSWER_BYTES) });
    return stream;
  }

  /** What was seen of an answer at time 0, when the buffers between it and its caller were full. */
  async function untilNothingIsTaken(res: ServerResponse): Promise<AnswerProgress> {
    const progress = { bytesTaken: 0, movedAt: 0 };
    await until('nothing is taken any more', async () => {
      const before = progress.bytesTaken;
      isUnread(progress, res, LIMITS, 0);
      return before > 0 && progress.bytesTaken === before;
    });
    return progress;
  }

  /** The answer that a caller who reads nothing is sent, and whose connection is not cut. */
  async function answerWith(send: (res: ServerResponse) => void): Promise<ServerResponse> {
    const { promise: answered, resolve } = Promise.withResolvers<ServerResponse>();
    answer = (_, res) => {
      send(res);
      resolve(res);
    };
    await ask(patientPort);
    return answered;
  }
});
