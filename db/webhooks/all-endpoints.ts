// The webhooks of all users as administrators read them, with what is still to be delivered to each.
import { sql } from '@mikro-orm/postgresql';
import type { WebhookState } from '../../domain/webhooks.ts';
import type { Em } from '../database.ts';
import { WebhookEndpointEntity, type WebhookEndpoint } from '../entities/webhooks.ts';
import { readRow } from '../read-row.ts';

export interface EndpointRecord {
  id: string;
  endpoint: WebhookEndpoint;
  /** Deliveries before their first attempt, those that are to be tried again, and the oldest of both. */
  pending: { first: number; again: number; oldestAt: Date | null };
}

export interface AllEndpointsFilters {
  limit: number;
  beforeId: string | null;
  userId?: string | undefined;
  status?: WebhookState | undefined;
}

const STATES = {
  working: sql`e.disabled_at is null and e.failing_since is null`,
  failing: sql`e.disabled_at is null and e.failing_since is not null`,
  disabled: sql`e.disabled_at is not null`,
} as const satisfies Record<WebhookState, unknown>;

/** Newest first. What is pending is counted for those of the page alone, by the indexes of the outbox. */
export async function listAllEndpoints(
  em: Em,
  { limit, beforeId, userId, status }: AllEndpointsFilters,
): Promise<EndpointRecord[]> {
  const before = beforeId === null ? sql`` : sql`and e.id < ${beforeId}`;
  const ofUser = userId === undefined ? sql`` : sql`and e.user_id = ${userId}`;
  const inState = status === undefined ? sql`` : sql`and ${STATES[status]}`;
  return readEndpoints(em, sql`true ${before} ${ofUser} ${inState} order by e.id desc limit ${limit}`);
}

/** A webhook of any user, or null. */
export async function findEndpoint(em: Em, id: string): Promise<EndpointRecord | null> {
  const [found] = await readEndpoints(em, sql`e.id = ${id}`);
  return found ?? null;
}

async function readEndpoints(em: Em, which: ReturnType<typeof sql>): Promise<EndpointRecord[]> {
  const rows = await em.execute<
    ({ id: string; pending_first: string; pending_again: string; oldest_at: string | null } & object)[]
  >(sql`
    select e.*, f.count as pending_first, a.count as pending_again, least(f.oldest_at, a.oldest_at) as oldest_at
    from (select e.* from webhook_endpoint e where ${which}) e
    cross join lateral (select count(*), min(d.created_at) as oldest_at from webhook_delivery d
      where d.endpoint_id = e.id and d.state = 'pending' and d.attempts = 0) f
    cross join lateral (select count(*), min(d.created_at) as oldest_at from webhook_delivery d
      where d.endpoint_id = e.id and d.state = 'pending' and d.attempts > 0) a
    order by e.id desc`);
  return rows.map(({ pending_first: first, pending_again: again, oldest_at: oldestAt, ...columns }) => ({
    id: columns.id,
    endpoint: readRow(em, WebhookEndpointEntity, columns),
    pending: {
      first: Number(first),
      again: Number(again),
      oldestAt: oldestAt === null ? null : new Date(oldestAt),
    },
  }));
}
