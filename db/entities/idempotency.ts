// Requests that were sent with an idempotency key. Neither the key nor the body is kept, only their hashes.
import { defineEntity, p } from '@mikro-orm/core';

export const IdempotencyKeyEntity = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_key',
  uniques: [{ properties: ['userId', 'method', 'path', 'keyHash'] }],
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    method: p.text(),
    path: p.text(),
    keyHash: p.blob(),
    fingerprint: p.blob(),
    /** Id of what the request created, such as a task. */
    subjectId: p.text().nullable(),
    /** The answer, encrypted. */
    answer: p.blob().nullable(),
    answerSecretKeyId: p.text().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    /** Until then, a row without an answer belongs to a request that is still under way. */
    leasedUntil: p.datetime(),
  },
});
