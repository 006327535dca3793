// The commands of `npm run admin`. Each returns the text to print; every change is in the audit log.
import { randomBytes } from 'node:crypto';
import { toCredits } from '../domain/credits.ts';
import { PERMISSIONS } from '../domain/permissions.ts';
import { createApiKey } from '../db/keys/api-keys.ts';
import { COMMAND_LINE, writeAuditEntry } from '../db/audit-log.ts';
import type { User } from '../db/entities/identity.ts';
import { rotateSecrets } from '../db/key-rotation.ts';
import { hashPassword } from '../db/identity/passwords.ts';
import { removeTotp } from '../db/identity/second-factors.ts';
import { Secrets } from '../db/secrets.ts';
import {
  addUser,
  grantCredits,
  replacePassword,
  unfreezeAccount,
} from '../db/identity/user-administration.ts';
import { findUserByEmail, normaliseEmail } from '../db/identity/users.ts';
import type { Em } from '../db/database.ts';
import { readCredits, readEmail, readNote, readText } from './arguments.ts';
import { CHECK } from './check-command.ts';
import { describeDependents } from './secrets-command.ts';
import { Refusal, type Command } from './program.ts';
import { RECONCILE } from './reconcile-command.ts';
import { REFUND } from './refund-command.ts';

const PASSWORD_BYTES = 18;
const NAME_CHARACTERS_MAX = 100;

export const ADMIN_COMMANDS: Readonly<Record<string, Command>> = {
  create: {
    args: ['EMAIL'],
    about:
      'makes an administrator with all permissions and prints a password, once;\nthe first administrator can be made only here, never over HTTP',
    check: ([text = '']) => void readEmail(text),
    run: async ({ em }, text = '') => {
      const email = readEmail(text);
      const password = makePassword();
      const user = await addUser(em, COMMAND_LINE, { email, password, permissions: PERMISSIONS });
      if (!user) throw new Refusal(`There is already a user with the address ${email}.`);
      return { text: `administrator ${email}\npassword      ${password}\n${notAgain('password')}` };
    },
  },
  reset: {
    args: ['EMAIL'],
    about: 'gives a new password, printed once; removes the second factor, ends all sessions',
    run: async ({ em }, text = '') => {
      const user = await requireUser(em, text);
      const password = makePassword();
      const passwordHash = await hashPassword(password);
      const target = { targetType: 'user', targetId: user.id, userId: user.id };
      await em.transactional(async (tx) => {
        await replacePassword(tx, user.id, passwordHash);
        await removeTotp(tx, user.id);
        const detail = { passwordChanged: true };
        await writeAuditEntry(tx, COMMAND_LINE, { action: 'UPDATE_USER', ...target, detail });
        if (user.totpSecret)
          await writeAuditEntry(tx, COMMAND_LINE, { action: 'RESET_SECOND_FACTOR', ...target });
      });
      const factor = user.totpSecret ? 'The second factor is removed. ' : '';
      return {
        text: `user     ${user.email}\npassword ${password}\n${factor}All sessions have ended. ${notAgain('password')}`,
      };
    },
  },
  'issue-key': {
    args: ['EMAIL', 'NAME'],
    about: 'makes an API key for the user and prints it, once',
    check: ([, name = '']) => void readText('NAME', name, NAME_CHARACTERS_MAX),
    run: async ({ em, keyRing }, text = '', name = '') => {
      const user = await requireUser(em, text);
      const wanted = { userId: user.id, name: readText('NAME', name, NAME_CHARACTERS_MAX) };
      const { key } = await em.transactional(async (tx) => {
        const created = await createApiKey(tx, new Secrets(keyRing), wanted);
        await writeAuditEntry(tx, COMMAND_LINE, {
          action: 'CREATE_API_KEY',
          targetType: 'api_key',
          targetId: created.id,
          userId: user.id,
          detail: { userId: user.id, name: wanted.name },
        });
        return created;
      });
      return { text: `user ${user.email}\nkey  ${key}\n${notAgain('key')}` };
    },
  },
  grant: {
    args: ['EMAIL', 'CREDITS', '[NOTE]'],
    about: "adds credits to the user's account; the note stands in the user's ledger",
    check: ([, credits = '', note]) => {
      readCredits(credits);
      if (note !== undefined) readNote(note);
    },
    run: async ({ em }, text = '', amount = '', note = 'Granted by the operator') => {
      const { id: userId, email } = await requireUser(em, text);
      const credits = readCredits(amount);
      const move = await grantCredits(em, COMMAND_LINE, { userId, credits, note: note.trim() });
      if (move === 'not_found') throw new Refusal(`${email} has no account.`);
      if (move === 'balance_limit') throw new Refusal(`The balance of ${email} cannot grow that much.`);
      const { transferId, balance, available } = move;
      const [now, free] = [toCredits(balance), toCredits(available)];
      return {
        text: `granted ${toCredits(credits)} to ${email}: balance ${now}, available ${free}, entry ${transferId}\n`,
      };
    },
  },
  refund: REFUND,
  unfreeze: {
    args: ['EMAIL'],
    about: 'lets an account spend again that the check of the invariants has frozen',
    run: async ({ em }, text = '') => {
      const user = await requireUser(em, text);
      const isUnfrozen = await em.transactional((tx) => unfreezeAccount(tx, COMMAND_LINE, user.id));
      if (!isUnfrozen) return { text: `the account of ${user.email} was not frozen\n` };
      return {
        text: `the account of ${user.email} may spend again\nWhat is still violated freezes it again: run check.\n`,
      };
    },
  },
  check: CHECK,
  reconcile: RECONCILE,
  rotate: {
    args: [],
    about:
      'encrypts again with the newest key of SVC_SECRET_KEYS, and tells which older keys\nare still needed; every process must have the new ring before',
    run: async ({ em, keyRing }) => {
      const [newest] = keyRing;
      const { renewed, dependents } = await rotateSecrets(em, keyRing);
      const done = renewed.map(({ what, rows }) => `${rows} ${what}`).join(', ');
      const { text, isAlarming } = describeDependents(keyRing, dependents);
      return { text: `encrypted again with key "${newest?.id}": ${done}\n${text}`, isAlarming };
    },
  },
};

function notAgain(what: string): string {
  return `The ${what} is not shown again.\n`;
}

function makePassword(): string {
  return randomBytes(PASSWORD_BYTES).toString('base64url');
}

async function requireUser(em: Em, text: string): Promise<User> {
  const user = await findUserByEmail(em, text);
  if (user) return user;
  throw new Refusal(`There is no user with the address ${normaliseEmail(text)}.`);
}
