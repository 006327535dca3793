// Reads the account to try the gateway with from what `dev/system/demo-data.ts` prints.
import { z } from 'zod';

const LOGIN = z.object({ email: z.string(), password: z.string() });
const ACCOUNT = z.object({ apiKey: z.string(), user: LOGIN, admin: LOGIN });

export type DemoAccount = z.infer<typeof ACCOUNT>;

/** Reads the one line of JSON among the script's output. */
export function parseDemoAccount(lines: readonly string[]): DemoAccount {
  const line = lines.findLast((candidate) => candidate.startsWith('{'));
  if (line === undefined) throw new Error('dev/system/demo-data.ts did not describe the demo account.');
  return ACCOUNT.parse(JSON.parse(line));
}
