// Limits guesses on routes whose row declares which error code a wrong answer has.
import { GatewayError, type ErrorCode } from '../../domain/errors.ts';
import type { Reply, RequestContext, Route } from '../context.ts';
import { logRefusal } from '../monitoring/security-log.ts';

/**
 * Runs `handle` within the user's guess limit, or throws 429. The point consumed before is refunded unless
 * `handle` throws the code of a wrong answer, which is also written to the security log. On routes without
 * `wrongWhen`, only runs `handle`.
 */
export function limitGuesses(
  route: Route,
  ctx: RequestContext,
  handle: () => Promise<Reply>,
): Promise<Reply> {
  const { guess } = route;
  const { caller } = ctx;
  if (guess?.wrongWhen === undefined || caller.proof === 'none') return handle();
  const { limit, wrongWhen } = guess;
  return handleGuess(ctx, { route, limit, wrongWhen, userId: caller.user.id }, handle);
}

interface Guess {
  route: Route;
  limit: NonNullable<Route['guess']>['limit'];
  wrongWhen: ErrorCode;
  userId: string;
}

async function handleGuess(
  { services, requestId, ip, limitBackend }: RequestContext,
  { route, limit, wrongWhen, userId }: Guess,
  handle: () => Promise<Reply>,
): Promise<Reply> {
  const attemptedBy = { ip, subject: userId, limitBackend };
  // The limiter refunds the point when an error is thrown, so a wrong answer is returned to it as a
  // verdict.
  const verdict = await services.guesses.limit(limit, attemptedBy, async () => {
    try {
      return { isWrong: false as const, reply: await handle() };
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== wrongWhen) throw error;
      return { isWrong: true as const, error };
    }
  });
  if (!verdict.isWrong) return verdict.reply;
  logRefusal(services.log, { userId, route, code: wrongWhen, requestId });
  throw verdict.error;
}
