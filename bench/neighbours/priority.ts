// Leaves the machine's processors to others: a hostile user works on a machine of their own.
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** Linux shares its processors between sessions first, and then between the processes of each. */
const SESSION_PRIORITY = '/proc/self/autogroup';

/**
 * Gives this process and its session the lowest priority. The session must be the process's own, as with
 * `detached`: all that is in it is affected, and the priority of a process counts within its session only.
 */
export function yieldProcessors(): void {
  setPriority(constants.priority.PRIORITY_LOW);
  try {
    writeFileSync(SESSION_PRIORITY, String(constants.priority.PRIORITY_LOW));
  } catch {
    // not Linux, or one that shares between processes only
  }
}
