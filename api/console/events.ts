// GET /api/events: tells a session of the changes of its user's tasks and balance, as they happen.
import type { Response } from 'express';
import {
  positionAfter,
  resumeIdOf,
  type ChangePosition,
  type Changes,
  type UserBalance,
} from '../../db/changes.ts';
import { toCredits } from '../../domain/credits.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { openEventStream, RETRY_MS, type EventStream } from '../events/event-stream.ts';
import type { FollowedChanges } from '../events/watcher.ts';
import type { BalanceEventView } from '../shapes/account.ts';
import { presentTask } from '../tasks/views.ts';

type Context = RequestContext<SessionCaller>;

/** Opens the stream. Throws 429 when the user has as many as may be open in this process. */
export async function streamEvents(ctx: Context): Promise<Reply> {
  const { services, caller, limitBackend } = ctx;
  const { streams } = services.events;
  const release = streams.take(caller.user.id);
  if (!release) {
    const quota = { name: 'event-streams', points: streams.max, seconds: null };
    throw services.limits.refuse('rate_limited', quota, { backend: limitBackend, resetMs: RETRY_MS });
  }
  const position = await beginning(ctx).catch((error: unknown) => {
    release();
    throw error;
  });
  return {
    status: 200,
    // Proxies such as nginx would collect the events otherwise.
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
    stream: async (res) => {
      try {
        await writeEvents(ctx, res, position);
      } finally {
        release();
      }
      return null;
    },
  };
}

/**
 * Where the stream begins: where the reader left off, else now. Found before the first byte: who reads a list
 * once the stream is open misses no change between the two.
 */
async function beginning(ctx: Context): Promise<ChangePosition> {
  const { events } = ctx.services;
  const position = positionAfter(ctx.header('last-event-id') ?? '');
  if (position) return position;
  return (await events.readChanges(null, { userIds: [], sessionIds: [], awaitedTaskIds: [] })).position;
}

/** Writes until one side ends the stream: what changed since the position, then what changes. */
async function writeEvents(ctx: Context, res: Response, first: ChangePosition): Promise<void> {
  const { services, caller } = ctx;
  const { watcher, commentEveryMs, draining } = services.events;
  const stream = openEventStream(res, commentEveryMs);
  const writer = createEventWriter(ctx, stream);
  draining.addEventListener('abort', stream.end, { once: true });
  let leave = (): void => undefined;
  try {
    if (res.req.method === 'HEAD' || draining.aborted) return;
    let isLive = false;
    let hasSkipped = false;
    leave = await watcher.follow({
      userId: caller.user.id,
      sessionId: caller.session.id,
      onRead: (read) => {
        if (isLive) writer.write(read);
        else hasSkipped = true;
      },
      onSessionEnd: stream.end,
    });
    let position = first;
    // What was skipped while catching up is caught up with in another round.
    do {
      hasSkipped = false;
      position = await catchUp(ctx, stream, writer, position);
    } while (hasSkipped && !stream.hasEnded());
    isLive = true;
    await stream.ended;
  } catch (err) {
    services.log.warn({ err, requestId: ctx.requestId }, 'a stream of events broke off');
  } finally {
    leave();
    draining.removeEventListener('abort', stream.end);
    stream.end();
  }
}

/**
 * Writes what changed since the position, page by page at the reader's pace, and returns the new position:
 * that of the last page, or of the one at which the stream ended.
 */
async function catchUp(
  { services, caller }: Context,
  stream: EventStream,
  writer: EventWriter,
  position: ChangePosition,
): Promise<ChangePosition> {
  const query = { userIds: [caller.user.id], sessionIds: [], awaitedTaskIds: [] };
  for (let from = position; ;) {
    if (stream.hasEnded()) return from;
    const { tasks, balances, position: to }: Changes = await services.events.readChanges(from, query);
    writer.write({ tasks, balance: balances.get(caller.user.id) ?? null, from, to });
    if (to.page === null) return to;
    await stream.drained();
    from = to;
  }
}

interface EventWriter {
  write(read: FollowedChanges): void;
}

/**
 * Writes reads as events. All events of a read carry the id from before it, and the id behind it follows
 * them, so that a reader who was cut off between two of them gets the second one.
 */
function createEventWriter({ services }: Context, stream: EventStream): EventWriter {
  let lastBalance = '';
  return {
    write: ({ tasks, balance, from, to }) => {
      const id = resumeIdOf(from);
      for (const { task, details } of tasks)
        stream.send({ event: 'task', id, data: presentTask(services, task, details) });
      const data = balance && presentBalanceEvent(balance);
      const isNew = data !== null && JSON.stringify(data) !== lastBalance;
      if (isNew) {
        lastBalance = JSON.stringify(data);
        stream.send({ event: 'balance', id, data });
      }
      if (tasks.length > 0 || isNew) stream.moveTo(resumeIdOf(to));
    },
  };
}

function presentBalanceEvent({ balance, reserved }: UserBalance): BalanceEventView {
  return {
    balance: toCredits(balance),
    reserved: toCredits(reserved),
    available: toCredits(balance - reserved),
  };
}
