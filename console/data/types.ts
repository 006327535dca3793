// The things that pages show, by the names that pages use.
import type { AnswerOf, BodyOf, QueryOf } from '../../api/openapi/route-types.ts';

export type TaskPage = AnswerOf<'GET /api/tasks'>;
export type Task = TaskPage['data'][number];
export type TaskStatus = Task['status'];
export type TaskMode = Task['mode'];
export type TaskEvent = AnswerOf<'GET /api/tasks/:id/timeline'>['data'][number];
export type Estimate = AnswerOf<'POST /api/estimates'>['data'];
export type TaskOrder = BodyOf<'POST /api/tasks'>;
export type Balance = AnswerOf<'GET /api/balance'>['data'];
export type LedgerEntry = NonNullable<Balance['ledger']>[number];
export type Key = AnswerOf<'GET /api/keys'>['data'][number];
export type Call = AnswerOf<'GET /api/usage'>['data'][number];
export type ForeignTask = AnswerOf<'GET /api/admin/tasks'>['data'][number];
export type RedeemCode = AnswerOf<'GET /api/admin/redeem-codes'>['data'][number];
export type AuditEntry = AnswerOf<'GET /api/admin/audit-entries'>['data'][number];
/** The actions that the audit log of this release knows. */
export type AuditAction = NonNullable<QueryOf<'GET /api/admin/audit-entries'>['action']>;
export type ForeignTaskDetails = AnswerOf<'GET /api/admin/tasks/:id'>['data'];
/** A user as administrators see it. */
export type ShownUser = AnswerOf<'GET /api/admin/users'>['data'][number];

export type Webhook = AnswerOf<'GET /api/webhooks'>['data'][number];
export type WebhookDelivery = AnswerOf<'GET /api/webhooks/:id/deliveries'>['data'][number];
/** An endpoint of any user as administrators see it, and what was sent to it. */
export type ForeignWebhook = AnswerOf<'GET /api/admin/webhooks'>['data'][number];
export type ForeignDelivery = AnswerOf<'GET /api/admin/webhooks/:id/deliveries'>['data'][number];
export type WebhookEventType = WebhookDelivery['type'];
export type WebhookFailure = NonNullable<WebhookDelivery['failure']>['code'];

/** The state of the whole service, for administrators. */
export type Health = AnswerOf<'GET /api/admin/health'>['data'];
export type HealthVendor = Health['vendors'][number]['credentials'][number];
