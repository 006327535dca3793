// `npm run admin -- refund`: gives back what a task was charged, or a part of it.
import { COMMAND_LINE } from '../db/audit-log.ts';
import { findUserRecord } from '../db/identity/user-records.ts';
import { refundTask } from '../db/ledger/refunds.ts';
import { toCredits } from '../domain/credits.ts';
import { readCredits, readNote } from './arguments.ts';
import { Refusal, type Command } from './program.ts';

const ALL = 'all';

export const REFUND: Command = {
  args: ['TASK', '[CREDITS]', '[NOTE]'],
  about:
    'gives back what the task was charged, or CREDITS of it ("all": what is left); the note stands\nin the ledger of its user; the same task, credits and note are one refund',
  check: ([, credits = ALL, note]) => {
    if (credits !== ALL) readCredits(credits);
    if (note !== undefined) readNote(note);
  },
  run: async ({ em }, taskId = '', amount = ALL, note = 'Refunded by the operator') => {
    const credits = amount === ALL ? null : readCredits(amount);
    const answer = await refundTask(em, COMMAND_LINE, { taskId, credits, note: readNote(note) });
    if (answer.kind === 'not_charged') throw new Refusal(`There is no task ${taskId} that was charged.`);
    if (answer.kind === 'too_much')
      throw new Refusal(`Of the charge of ${taskId}, ${toCredits(answer.left)} credits are left to refund.`);
    const { isFirst, transferId, balance, available } = answer.refund;
    const record = await findUserRecord(em, answer.userId);
    const of = `of ${taskId} to ${record?.user.email ?? answer.userId}`;
    if (!isFirst) return { text: `refunded ${amount} ${of} before, with this note: entry ${transferId}\n` };
    const [now, free] = [toCredits(balance), toCredits(available)];
    const done = `${toCredits(answer.credits)} ${of}`;
    return { text: `refunded ${done}: balance ${now}, available ${free}, entry ${transferId}\n` };
  },
};
