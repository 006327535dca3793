// The command that checks the invariants of money, which both programs offer.
import { findViolations, type Progress } from '../db/ledger/invariants.ts';
import type { Command } from './program.ts';

export const CHECK: Command = {
  args: [],
  about: 'runs the invariants of money, reading only; exit code 1 if one is violated',
  run: async ({ em }) => {
    const violations = await findViolations(em, { onProgress: showProgress });
    showProgress(null);
    const lines = violations.map(
      ({ rule, subject, userId }) => `BROKEN: ${rule}: ${subject}${userId === null ? '' : ` (${userId})`}\n`,
    );
    return { text: `${lines.join('')}${violations.length} violations\n`, isAlarming: violations.length > 0 };
  },
};

/** Shows on a terminal how far the check is, in one line that is written over; null removes it. */
function showProgress(progress: Progress | null): void {
  if (!process.stderr.isTTY) return;
  const text = progress ? `${progress.accounts} accounts, ${progress.slices} slices` : '';
  process.stderr.write(`\r\u001B[K${text}`);
}
