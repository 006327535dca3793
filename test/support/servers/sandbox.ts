// Reads the sandbox's journal: the requests and jobs that reached the vendors.

export interface JournalEntry {
  at: string;
  vendor: string;
  operation: 'submit' | 'poll' | 'cancel' | 'download' | 'chat' | 'other';
  method: string;
  path: string;
  jobId: string | null;
  status: number | null;
  clientClosedAt: string | null;
}

/** Every request whose job's prompt contains the text, oldest first. */
export async function readJournal(sandboxUrl: string, contains: string): Promise<JournalEntry[]> {
  const response = await fetch(`${sandboxUrl}/_journal?contains=${encodeURIComponent(contains)}`);
  const { entries } = (await response.json()) as { entries: JournalEntry[] };
  return entries;
}

export async function countSubmissions(sandboxUrl: string, contains: string): Promise<number> {
  const entries = await readJournal(sandboxUrl, contains);
  return entries.filter(({ operation }) => operation === 'submit').length;
}

export interface SandboxJob {
  id: string;
  state: string;
  /** Parameters of the job in the vendor's own terms. */
  ordered: Record<string, unknown>;
}

/** Every job whose prompt contains the text, oldest first. */
export async function readJobs(sandboxUrl: string, contains: string): Promise<SandboxJob[]> {
  const response = await fetch(`${sandboxUrl}/_jobs?contains=${encodeURIComponent(contains)}`);
  const { jobs } = (await response.json()) as { jobs: SandboxJob[] };
  return jobs;
}
