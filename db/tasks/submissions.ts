// Submissions to vendors, one per attempt: the intent is written before the call, the answer after it.
import { sql } from '@mikro-orm/postgresql';
import type { TaskFailureCode } from '../../domain/failures.ts';
import type { Evidence } from '../../domain/pricing.ts';
import type { TaskAttempt } from '../../domain/tasks.ts';
import { storableText } from '../../domain/storable-text.ts';
import { CHOOSE_CREDENTIAL, withFamilyLock, type CredentialChoice } from './credentials.ts';
import { SubmissionEntity, type Submission } from '../entities/tasks.ts';
import type { Sealed } from '../secrets.ts';
import { storeEvidence, type TaskOutput } from '../columns.ts';
import { prepare, storableJson } from '../prepared.ts';
import type { Em } from '../database.ts';
import { readRow } from '../read-row.ts';

/**
 * `proceed`: nothing of this attempt has reached the vendor; hand it over with this credential.
 * `busy`: every credential has as many jobs as it may have, so the work has to wait.
 * `already_submitted`: a submission row exists, so this attempt may already have reached the vendor.
 */
export type Intent =
  | { kind: 'proceed'; credential: string; sentAt: Date }
  | { kind: 'busy' }
  | { kind: 'already_submitted' };

/** One try to hand an attempt over. `sentAt`: when its intent was written, by which tries are told apart. */
export interface SubmissionTry extends TaskAttempt {
  sentAt: Date;
}

/** Why an attempt fails. `errorText`: in the vendor's words, masked; null where it said nothing. */
interface Failure {
  code: TaskFailureCode;
  errorText: string | null;
}

/** A try that is to be made. `tryId`: its own, by which it recognises the intent that it wrote. */
export interface IntendedTry extends TaskAttempt {
  tryId: string;
}

/**
 * Writes the intent to submit, with the credential that is chosen for it. Safe to repeat for the same try as
 * long as it has not called the vendor: where the answer `proceed` was lost, the repeat says it again, with a
 * later `sentAt`, so that what another run learned of the intent before is no verdict on this one. Where
 * `busy` was lost, the repeat says `already_submitted`: the row tells that the vendor has nothing, and the
 * next run asks for a place.
 */
export async function intendSubmission(
  em: Em,
  { taskId, attempt, tryId }: IntendedTry,
  choice: CredentialChoice,
): Promise<Intent> {
  const { family, credentials, jobsPerCredentialMax } = choice;
  const jobsMax = jobsPerCredentialMax ?? Number.MAX_SAFE_INTEGER;
  const intend = (on: Em) => insertIntent(on, [taskId, attempt, family, credentials, jobsMax, tryId]);
  const [intended] = await (jobsPerCredentialMax === null ? intend(em) : withFamilyLock(em, family, intend));
  if (!intended) return { kind: 'already_submitted' };
  return intended.credential === null
    ? { kind: 'busy' }
    : { kind: 'proceed', credential: intended.credential, sentAt: new Date(Number(intended.sentAtMs)) };
}

/**
 * The repeat of a try is one microsecond later than its transaction, which tells it from a first write: that
 * alone is an event. A statement that the database held back until a later repeat was done changes no time.
 */
const insertIntent = prepare<{ credential: string | null; sentAtMs: string }>(
  'intend-submission',
  `with chosen as (${CHOOSE_CREDENTIAL}), intended as (
    insert into submission as s (task_id, attempt, state, family, credential, try_id)
    select id, attempt, case when (select credential from chosen) is null then 'not_received' else 'sending' end,
           $3, (select credential from chosen), $6
    from task where id = $1 and attempt = $2 and status = 'in_progress'
    on conflict (task_id, attempt) do update
    set state = case when s.state = 'sending' then s.state else excluded.state end,
        credential = case when s.state = 'sending' then s.credential else excluded.credential end,
        sent_at = case when s.state = 'sending' then greatest(s.sent_at, now() + interval '1 microsecond')
                       else now() end,
        try_id = excluded.try_id, updated_at = now()
    where case s.state when 'not_received' then s.try_id is distinct from excluded.try_id
                       when 'sending' then s.try_id = excluded.try_id end
    returning task_id, attempt, credential, sent_at
  ), logged as (
    insert into task_event (task_id, attempt, event)
    select task_id, attempt, 'submitting' from intended where credential is not null and sent_at = now()
  )
  select credential, extract(epoch from sent_at) * 1000 as "sentAtMs" from intended`,
);

/** `ageMs`: since the hand-over, by the database's clock alone. */
export type FoundSubmission = Submission & { ageMs: number };

export async function findSubmission(em: Em, task: TaskAttempt): Promise<FoundSubmission | null> {
  const [row] = await selectSubmission(em, [task.taskId, task.attempt]);
  return row ? { ...readRow(em, SubmissionEntity, row), ageMs: row.ageMs } : null;
}

const selectSubmission = prepare<Record<string, unknown> & { ageMs: number }>(
  'find-submission',
  `select *, (extract(epoch from now() - sent_at) * 1000)::float8 as "ageMs"
   from submission where task_id = $1 and attempt = $2`,
);

/** Records that the worker that submits these is alive and still waits for the vendors' answers. */
export async function keepSubmissionsFresh(em: Em, tasks: readonly TaskAttempt[]): Promise<void> {
  await refresh(em, [tasks.map(({ taskId }) => taskId), tasks.map(({ attempt }) => attempt)]);
}

const refresh = prepare(
  'keep-submissions-fresh',
  `update submission s set updated_at = now()
   from unnest($1::text[], $2::integer[]) f (task_id, attempt)
   where s.task_id = f.task_id and s.attempt = f.attempt and s.state = 'sending'`,
);

/** Whether `keepSubmissionsFresh` ran within the last `seconds`, by the database's clock. */
export async function isSubmissionFresh(em: Em, task: TaskAttempt, seconds: number): Promise<boolean> {
  const rows = await em.execute<{ id: string }[]>(sql`
    select task_id as id from submission
    where task_id = ${task.taskId} and attempt = ${task.attempt} and state = 'sending'
      and updated_at > now() - make_interval(secs => ${seconds})`);
  return rows.length > 0;
}

/**
 * Records that the vendor surely did not take the work of this try: another one is allowed. A try that
 * has begun meanwhile goes on.
 */
export async function recordNotReceived(
  em: Em,
  tried: SubmissionTry,
  errorText: string | null,
): Promise<void> {
  await em.execute(sql`
    with returned as (
      update submission set state = 'not_received', error_text = ${errorText}, updated_at = now()
      where ${isUnderWay(tried)}
      returning task_id, attempt
    )
    insert into task_event (task_id, attempt, event) select task_id, attempt, 'submit_retried' from returned`);
}

/**
 * Records that the attempt fails with this try: the vendor refused the work, or its outcome stays unknown. A
 * try that has begun meanwhile goes on, and so does a job that was found meanwhile.
 */
export async function recordFailedTry(em: Em, tried: SubmissionTry, failure: Failure): Promise<void> {
  await em.execute(sql`
    update submission
    set state = 'ended', error_code = ${failure.code}, error_text = ${failure.errorText}, updated_at = now()
    where ${isUnderWay(tried)}`);
}

/** Records that the vendor finished the job. The first end stands: false where one was recorded before. */
export async function recordSucceeded(
  em: Em,
  task: TaskAttempt,
  success: { results: Sealed; evidence: Evidence },
): Promise<boolean> {
  const { results, evidence } = success;
  const stored = JSON.stringify(storeEvidence(evidence));
  const values = [task.taskId, task.attempt, results.bytes, results.secretKeyId, stored];
  return (await succeed(em, values)).length > 0;
}

const succeed = prepare<{ id: string }>(
  'record-succeeded',
  `update submission
   set state = 'succeeded', results = $3, results_secret_key_id = $4, evidence = $5::jsonb, updated_at = now()
   where task_id = $1 and attempt = $2 and state = 'accepted'
   returning task_id as id`,
);

/**
 * Records that the results are in our storage; for an immediate vendor this is its success as well. Answers
 * false where nothing was changed: it was recorded before, or the try was given up, or the task has ended.
 */
export async function recordStored(
  em: Em,
  task: TaskAttempt,
  stored: {
    outputs: TaskOutput[];
    outputText?: string | null;
    evidence?: Evidence;
    upstreamRequestId?: string | null;
  },
): Promise<boolean> {
  const { outputs, outputText = null, upstreamRequestId = null } = stored;
  const evidence = stored.evidence ? storableJson(storeEvidence(stored.evidence)) : null;
  const kept = await keepOutputs(em, [
    task.taskId,
    task.attempt,
    storableJson(outputs),
    outputText && storableText(outputText),
    evidence,
    upstreamRequestId && storableText(upstreamRequestId),
  ]);
  return kept.length > 0;
}

const keepOutputs = prepare(
  'record-stored',
  `with kept as (
    update submission
    set state = 'succeeded', outputs = $3::jsonb, output_text = $4, evidence = coalesce($5::jsonb, evidence),
        updated_at = now()
    where task_id = $1 and attempt = $2 and state in ('sending', 'succeeded') and outputs is null
      and exists (select from task t where t.id = $1 and t.attempt = $2 and t.status in ('queued', 'in_progress'))
    returning task_id, attempt
  ), shown as (
    update task t set upstream_request_id = coalesce($6, t.upstream_request_id)
    from kept k where t.id = k.task_id and t.attempt = k.attempt
  )
  insert into task_event (task_id, attempt, event) select task_id, attempt, 'stored' from kept
  returning task_id`,
);

/**
 * Records that the job failed at the vendor. The first end stands: answers false where one was recorded
 * before. `evidence`: what the vendor bills although the job failed.
 */
export async function recordEnded(
  em: Em,
  task: TaskAttempt,
  failure: Failure,
  evidence?: Evidence,
): Promise<boolean> {
  const billed = evidence ? JSON.stringify(storeEvidence(evidence)) : null;
  const rows = await em.execute<{ id: string }[]>(sql`
    update submission
    set state = 'ended', error_code = ${failure.code}, error_text = ${failure.errorText},
        evidence = coalesce(${billed}::jsonb, evidence), updated_at = now()
    where task_id = ${task.taskId} and attempt = ${task.attempt} and state = 'accepted'
    returning task_id as id`);
  return rows.length > 0;
}

/** Records what the vendor bills for a job that failed there while its task was ended for another reason. */
export async function recordBilled(em: Em, task: TaskAttempt, evidence: Evidence): Promise<void> {
  await em.execute(sql`
    update submission set evidence = ${JSON.stringify(storeEvidence(evidence))}::jsonb, updated_at = now()
    where task_id = ${task.taskId} and attempt = ${task.attempt} and state = 'accepted'`);
}

/** Times are compared by the millisecond, because a `Date` has no microseconds. */
function isUnderWay({ taskId, attempt, sentAt }: SubmissionTry) {
  return sql`task_id = ${taskId} and attempt = ${attempt} and state = 'sending'
    and abs(extract(epoch from sent_at - ${sentAt.toISOString()}::timestamptz)) < 0.002`;
}
