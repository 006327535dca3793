// The task log, its encrypted requests, its timeline, and what was handed over to a vendor.
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { TaskFailureCode } from '../../domain/failures.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { TaskEvent, TaskMode, TaskStatus } from '../../domain/tasks.ts';
import type { StoredEvidence, StoredHandle, StoredPrice, TaskOutput } from '../columns.ts';
import type { Order } from '../../domain/orders/order.ts';

export const TaskEntity = defineEntity({
  name: 'Task',
  tableName: 'task',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    keyId: p.text().nullable(),
    mode: p.text().$type<TaskMode>(),
    model: p.text(),
    family: p.text(),
    adapter: p.text(),
    upstreamModel: p.text(),
    status: p.text().$type<TaskStatus>(),
    progress: p.smallint(),
    attempt: p.integer(),
    ordered: p.json<Order>(),
    price: p.json<StoredPrice>(),
    creditsEstimate: p.bigint('bigint'),
    creditsCharged: p.bigint('bigint'),
    /** The request with its prompt masked; the owner's prompt is put back from the encrypted request. */
    requestPayload: p.json<{ [field: string]: JsonValue }>(),
    outputs: p.json<TaskOutput[]>(),
    outputText: p.text().nullable(),
    upstreamTaskId: p.text().nullable(),
    upstreamRequestId: p.text().nullable(),
    errorCode: p.text().nullable(),
    errorMessage: p.text().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
    /** When `reserve` set credits aside for this attempt. */
    admittedAt: p.datetime().nullable(),
    startedAt: p.datetime().nullable(),
    /** When the task reached its final status, whichever that is. */
    completedAt: p.datetime().nullable(),
    cancelRequestedAt: p.datetime().nullable(),
    sweptAt: p.datetime().nullable(),
    /** When its owner deleted a video; its files go, and the row stays for what it cost. */
    deletedAt: p.datetime().nullable(),
    /** When its result began to be removed by age; its outputs are no longer shown. */
    resultExpiredAt: p.datetime().nullable(),
    /** The request that created the newest attempt; its charge names it. Null where it was not kept yet. */
    requestId: p.text().nullable(),
    /** The transaction that changed the row last; only db/changes.ts reads it. */
    changedXid: p.text().columnType('xid8').nullable(),
  },
});
export type Task = InferEntity<typeof TaskEntity>;

export const TaskRequestEntity = defineEntity({
  name: 'TaskRequest',
  tableName: 'task_request',
  properties: {
    taskId: p.text().primary(),
    secretKeyId: p.text(),
    prompt: p.blob(),
    /** What the adapter needs beside the prompt, encrypted; removed some days after the end. */
    body: p.blob().nullable(),
  },
});
export type TaskRequest = InferEntity<typeof TaskRequestEntity>;

export const TaskEventEntity = defineEntity({
  name: 'TaskEvent',
  tableName: 'task_event',
  properties: {
    id: p.bigint('bigint').primary().generated('identity'),
    taskId: p.text(),
    attempt: p.integer(),
    event: p.text().$type<TaskEvent>(),
    detail: p.text().nullable(),
    at: p.datetime(),
  },
});
export type TaskEventRow = InferEntity<typeof TaskEventEntity>;

type SubmissionState = 'sending' | 'not_received' | 'accepted' | 'succeeded' | 'ended';

export const SubmissionEntity = defineEntity({
  name: 'Submission',
  tableName: 'submission',
  properties: {
    taskId: p.text().primary(),
    attempt: p.integer().primary(),
    /**
     * sending: handed over, no answer known · not_received: surely not taken, may be tried again ·
     * accepted: the vendor has it · succeeded: the vendor finished it · ended: it failed.
     */
    state: p.text().$type<SubmissionState>(),
    /** The vendor account it is handed over with: the family and the id of its credential. */
    family: p.text().nullable(),
    credential: p.text().nullable(),
    /** Which try wrote the intent; null when a worker of an earlier release did. */
    tryId: p.text().nullable(),
    handle: p.json<StoredHandle>().nullable(),
    /** Where the vendor put the results, encrypted: such URLs are secrets. */
    results: p.blob().nullable(),
    resultsSecretKeyId: p.text().nullable(),
    evidence: p.json<StoredEvidence>().nullable(),
    outputs: p.json<TaskOutput[]>().nullable(),
    /** The text that a text model answered. */
    outputText: p.text().nullable(),
    errorCode: p.text().$type<TaskFailureCode>().nullable(),
    /** The vendor's words about a failure, masked. */
    errorText: p.text().nullable(),
    sentAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
export type Submission = InferEntity<typeof SubmissionEntity>;
