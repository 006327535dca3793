// A reporter of mocha: prints what `spec` prints, and writes each failure to a file for `dev/test.ts`.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import Mocha from 'mocha';
import { z } from 'zod';

const FAILURE = z.object({ file: z.string().optional(), title: z.string() });

/** A test, or a hook of one, that failed. Without `file` it cannot be run again alone. */
export type Failure = z.infer<typeof FAILURE>;

/** mocha takes the module's default for the reporter. `failures` of its options names the file. */
export default class FailureReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const { failures } = z.object({ failures: z.string() }).parse(options.reporterOptions);
    runner.on(Mocha.Runner.constants.EVENT_TEST_FAIL, (failed: Mocha.Runnable) => {
      const failure: Failure = { file: failed.file, title: failed.titlePath().join(' › ') };
      appendFileSync(failures, `${JSON.stringify(failure)}\n`);
    });
  }
}

/** What a run of mocha wrote; empty when nothing failed. */
export function readFailures(path: string): Failure[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => FAILURE.parse(JSON.parse(line)));
}
