// What the view of a task needs beside its row: the owner's prompt, what the vendor says it delivered, and
// what an operator gave back.
import { sql } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../../domain/credits.ts';
import { readMicroCredits, type StoredEvidence } from '../columns.ts';
import type { Em } from '../database.ts';
import type { Task } from '../entities/tasks.ts';
import type { Secrets } from '../secrets.ts';
import { decryptPrompt } from './requests.ts';

export interface TaskDetails {
  /** Undefined when its key has left the ring, and where it was not read. */
  prompt: string | undefined;
  /** Of the present attempt; null until the vendor has reported. */
  evidence: StoredEvidence | null;
  /** Of the charge of the present attempt. */
  refunded: MicroCredits;
}

export const NO_DETAILS: TaskDetails = { prompt: undefined, evidence: null, refunded: 0n };

/** Reads the details of these tasks by id. A task without any is missing. */
export async function readDetails(
  em: Em,
  secrets: Secrets,
  tasks: readonly Pick<Task, 'id' | 'attempt'>[],
): Promise<Map<string, TaskDetails>> {
  if (tasks.length === 0) return new Map();
  const wanted = JSON.stringify(tasks.map(({ id, attempt }) => ({ id, attempt })));
  const rows = await em.execute<DetailsRow[]>(sql`
    select w.id, q.secret_key_id as sealed_with, q.prompt as sealed_prompt, s.evidence, c.refunded::text as refunded
    from jsonb_to_recordset(${wanted}::jsonb) as w (id text, attempt integer)
    left join task_request q on q.task_id = w.id
    left join submission s on s.task_id = w.id and s.attempt = w.attempt
    left join task_attempt c on c.task_id = w.id and c.attempt = w.attempt`);
  return new Map(rows.map((row) => [row.id, openDetails(secrets, row)]));
}

/** The columns of the details as statements name them. */
export interface DetailsRow {
  id: string;
  sealed_with: string | null;
  sealed_prompt: Uint8Array | null;
  evidence: StoredEvidence | null;
  refunded: string | null;
}

export function openDetails(
  secrets: Secrets,
  { id: taskId, sealed_with: secretKeyId, sealed_prompt: prompt, evidence, refunded }: DetailsRow,
): TaskDetails {
  const isKept = secretKeyId !== null && prompt !== null;
  return {
    prompt: isKept ? decryptPrompt(secrets, { taskId, secretKeyId, prompt }) : undefined,
    evidence,
    refunded: readMicroCredits(refunded ?? '0'),
  };
}
