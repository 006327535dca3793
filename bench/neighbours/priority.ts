// Gives the machine's processors to the product and the victim first: a hostile user works on a machine of their own.
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** The lowest weight of Linux's autogroups, which share the processors by session before processes do. */
const AUTOGROUP_NICE = '19';

/**
 * Makes this process use what processor time others leave. Needs a session of its own, as `detached` gives:
 * Linux's autogroups would lower the rest of the session with it, or hide the priority from other sessions.
 */
export function yieldProcessors(): void {
  setPriority(constants.priority.PRIORITY_LOW);
  try {
    writeFileSync('/proc/self/autogroup', AUTOGROUP_NICE);
  } catch {
    // no Linux, or one without autogroups: the priority alone counts
  }
}
