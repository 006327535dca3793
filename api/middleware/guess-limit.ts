// The guess limit of routes that declare in their row which error code a wrong answer has.
import { GatewayError } from '../../domain/errors.ts';
import type { Reply, RequestContext, Route } from '../context.ts';
import { logRefusal } from '../monitoring/security-log.ts';

/**
 * Consumes a point of the user's guess limit, or throws 429; runs `handle`; refunds the point unless `handle`
 * threw the code of a wrong answer. That one is also written to the security log. Routes without `wrongWhen`
 * are just handled.
 */
export async function limitGuesses(
  route: Route,
  ctx: RequestContext,
  handle: () => Promise<Reply>,
): Promise<Reply> {
  const { services, caller, requestId, ip, limitBackend } = ctx;
  const wrongWhen = route.guess?.wrongWhen;
  if (!route.guess || wrongWhen === undefined || caller.proof === 'none') return handle();
  const userId = caller.user.id;
  const attemptedBy = { ip, subject: userId, limitBackend };
  // The limiter refunds the point of whatever is thrown, so a wrong answer is returned to it as a verdict.
  const verdict = await services.guesses.limit(route.guess.limit, attemptedBy, async () => {
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
