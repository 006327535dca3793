// GET /api/usage/summary: the caller's own usage by interval and group.
import { z } from 'zod';
import { USAGE_GROUPS } from '../../domain/usage.ts';
import {
  presentUsageRows,
  presentUsageSums,
  SUMMARY_QUERY,
  summariseUsage,
} from '../account/usage-summary.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { oneOf, readQuery } from '../http/request-fields.ts';
import type { UsageSummaryView } from '../shapes/usage.ts';

export const OWN_SUMMARY_QUERY = z.object({ ...SUMMARY_QUERY, group: oneOf(USAGE_GROUPS).default('none') });

export async function readOwnUsage(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const query = readQuery(OWN_SUMMARY_QUERY, ctx.query);
  const { rows, total, asOf } = await summariseUsage(ctx, ctx.caller.user.id, query);
  const body: UsageSummaryView = {
    data: presentUsageRows(rows, presentUsageSums),
    total: presentUsageSums(total),
    asOf,
  };
  return { status: 200, body };
}
