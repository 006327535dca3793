// The command that checks the invariants of money, which both programs offer.
import { findViolations } from '../db/ledger/invariants.ts';
import type { Command } from './program.ts';

export const CHECK: Command = {
  args: [],
  about: 'runs the invariants of money; exit code 1 if one is violated',
  run: async ({ em }) => {
    const violations = await findViolations(em);
    const lines = violations.map(
      ({ rule, subject, userId }) => `BROKEN: ${rule}: ${subject}${userId === null ? '' : ` (${userId})`}\n`,
    );
    return { text: `${lines.join('')}${violations.length} violations\n`, isAlarming: violations.length > 0 };
  },
};
