// GET /api/admin/usage/failures: what failed in a period, by the code of its error.
import { z } from 'zod';
import { countFailures } from '../../db/usage/failures.ts';
import { periodOf, SUMMARY_PERIOD, tooMuchUsage } from '../account/usage-summary.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { idText, readQuery } from '../http/request-fields.ts';
import type { UsageFailuresView } from '../shapes/usage.ts';

export const FAILURES_QUERY = z.object({
  ...SUMMARY_PERIOD,
  userId: idText('usr').optional().describe('Of this user alone.'),
});

export async function readFailures({ em, query }: RequestContext<SessionCaller>): Promise<Reply> {
  const { userId = null, ...asked } = readQuery(FAILURES_QUERY, query);
  const period = periodOf({ ...asked, interval: 'day' });
  const data = await countFailures(em, { ...period, userId });
  if (!Array.isArray(data)) throw tooMuchUsage();
  const body: UsageFailuresView = { data };
  return { status: 200, body };
}
