// How much of the machine's processors a process gets while all are busy.
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * `background`: a third of what others get (nice 5), for work that no caller waits for at a connection.
 * `least`: next to nothing, for what should run elsewhere.
 */
export type Priority = 'background' | 'least';

const NICE: Record<Priority, number> = { background: 5, least: constants.priority.PRIORITY_LOW };

/**
 * Lowers the priority of a process and of its session, which must be its own, as with `detached`: Linux
 * shares its processors between sessions first, and then between the processes of each. Call it at the start:
 * threads that already run keep theirs where only processes count.
 */
export function lowerPriority(pid: number, priority: Priority): void {
  try {
    setPriority(pid, NICE[priority]);
    writeFileSync(`/proc/${pid}/autogroup`, String(NICE[priority]));
  } catch {
    // it has ended; or this is not Linux, or one that shares between processes only
  }
}
