// GET /api/admin/usage/summary: the usage of all users, or of one, by interval and group, with the operator's
// loss.
import { z } from 'zod';
import type { UsageSums } from '../../db/usage/intervals.ts';
import { toCredits } from '../../domain/credits.ts';
import { ALL_USAGE_GROUPS } from '../../domain/usage.ts';
import {
  presentUsageRows,
  presentUsageSums,
  SUMMARY_QUERY,
  summariseUsage,
} from '../account/usage-summary.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { idText, oneOf, readQuery } from '../http/request-fields.ts';
import type { AllUsageSummaryView } from '../shapes/usage.ts';

export const ALL_SUMMARY_QUERY = z.object({
  ...SUMMARY_QUERY,
  group: oneOf(ALL_USAGE_GROUPS).default('none'),
  userId: idText('usr').optional().describe('Of this user alone.'),
});

export async function readUsageOfAllUsers(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const query = readQuery(ALL_SUMMARY_QUERY, ctx.query);
  const { rows, total, asOf } = await summariseUsage(ctx, query.userId ?? null, query);
  const body: AllUsageSummaryView = {
    data: presentUsageRows(rows, presentWithLoss),
    total: presentWithLoss(total),
    asOf,
  };
  return { status: 200, body };
}

function presentWithLoss(sums: UsageSums): AllUsageSummaryView['total'] {
  return { ...presentUsageSums(sums), loss: toCredits(sums.loss) };
}
