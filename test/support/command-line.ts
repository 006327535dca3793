// Runs the operator's command line as a process of its own.
import { execFile } from 'node:child_process';
import { join } from 'node:path';

export interface CommandOutcome {
  code: number;
  output: string;
  errors: string;
}

const PROGRAM = join(import.meta.dirname, '../../cli/admin.ts');

/** `npm run admin -- …args` with these settings and no others. */
export function runAdmin(
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<CommandOutcome> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...settings };
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], { env }, (error, output, errors) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, output, errors });
    });
  });
}
