// What the view of a task needs beside its row: the owner's prompt, and what the vendor says it delivered.
import { sql } from '@mikro-orm/postgresql';
import type { StoredEvidence } from '../columns.ts';
import type { Em } from '../database.ts';
import type { Task } from '../entities/tasks.ts';
import type { Secrets } from '../secrets.ts';
import { decryptPrompt } from './requests.ts';

export interface TaskDetails {
  /** Undefined when its key has left the ring, and where it was not read. */
  prompt: string | undefined;
  /** Of the present attempt; null until the vendor has reported. */
  evidence: StoredEvidence | null;
}

export const NO_DETAILS: TaskDetails = { prompt: undefined, evidence: null };

/** Reads the details of these tasks by id. A task without any is missing. */
export async function readDetails(
  em: Em,
  secrets: Secrets,
  tasks: readonly Pick<Task, 'id' | 'attempt'>[],
): Promise<Map<string, TaskDetails>> {
  if (tasks.length === 0) return new Map();
  const wanted = JSON.stringify(tasks.map(({ id, attempt }) => ({ id, attempt })));
  const rows = await em.execute<DetailsRow[]>(sql`
    select w.id, q.secret_key_id as sealed_with, q.prompt as sealed_prompt, s.evidence
    from jsonb_to_recordset(${wanted}::jsonb) as w (id text, attempt integer)
    left join task_request q on q.task_id = w.id
    left join submission s on s.task_id = w.id and s.attempt = w.attempt`);
  return new Map(rows.map((row) => [row.id, openDetails(secrets, row)]));
}

/** The columns of the details as statements name them. */
export interface DetailsRow {
  id: string;
  sealed_with: string | null;
  sealed_prompt: Uint8Array | null;
  evidence: StoredEvidence | null;
}

export function openDetails(
  secrets: Secrets,
  { id: taskId, sealed_with: secretKeyId, sealed_prompt: prompt, evidence }: DetailsRow,
): TaskDetails {
  const isKept = secretKeyId !== null && prompt !== null;
  return { prompt: isKept ? decryptPrompt(secrets, { taskId, secretKeyId, prompt }) : undefined, evidence };
}
