// The command that tells which keys of the ring are still needed, and the words for its answer.
import { countDependents, type Dependents } from '../db/key-rotation.ts';
import type { SecretKey } from '../db/secrets.ts';
import type { Command, Outcome } from './program.ts';

export const SECRETS: Command = {
  args: [],
  about: 'tells how many rows still need an older key of SVC_SECRET_KEYS, and which may leave',
  run: async ({ em, keyRing }) => describeDependents(keyRing, await countDependents(em, keyRing)),
};

/** Describes what needs which older key; alarming when one of those keys is not in the ring any more. */
export function describeDependents(
  ring: readonly SecretKey[],
  dependents: readonly Dependents[],
): Required<Outcome> {
  const needed = dependents.map(({ secretKeyId, isInRing, what, rows }) =>
    isInRing
      ? `key "${secretKeyId}" is still needed by ${rows} ${what}\n`
      : `LOST: ${rows} ${what} need key "${secretKeyId}", which is not in the ring\n`,
  );
  const older = ring.slice(1).map(({ id }) => id);
  const free = older.filter((id) => dependents.every(({ secretKeyId }) => secretKeyId !== id));
  const unneeded = free.map((id) => `key "${id}" is needed by nothing: it may leave SVC_SECRET_KEYS\n`);
  const nothing = ring.length === 1 && needed.length === 0 ? ['nothing needs an older key\n'] : [];
  return {
    text: [...needed, ...unneeded, ...nothing].join(''),
    isAlarming: dependents.some(({ isInRing }) => !isInRing),
  };
}
