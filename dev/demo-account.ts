/** The account everybody may try the gateway with, as `dev/demo-data.ts` describes it, and what to try. */
import { z } from 'zod';

const login = z.object({ email: z.string(), password: z.string() });
const account = z.object({ apiKey: z.string(), user: login, admin: login });

export type DemoAccount = z.infer<typeof account>;

/** Reads the one line of JSON among what the script wrote. */
export function parseDemoAccount(lines: readonly string[]): DemoAccount {
  const line = lines.findLast((candidate) => candidate.startsWith('{'));
  if (line === undefined) throw new Error('dev/demo-data.ts did not describe the demo account.');
  return account.parse(JSON.parse(line));
}
