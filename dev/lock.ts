// Takes a lock that only one living process holds: a file with its pid, ignored once that process is gone.
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isAlive, readPid } from './processes.ts';

export interface Lock {
  release(): void;
}

/**
 * Takes the lock, or returns the pid of its holder. `belongs` tells a holder from a stranger with its pid.
 */
export function takeLock(file: string, belongs: (pid: number) => boolean = () => true): Lock | number {
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, `${process.pid}\n`, { mode: 0o600 });
  try {
    for (;;) {
      try {
        // A link appears with its content, and never over another one.
        linkSync(mine, file);
        return { release: () => releaseLock(file) };
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      }
      const holder = readPid(file);
      if (holder !== undefined && holder !== process.pid && isAlive(holder) && belongs(holder)) return holder;
      discardLock(file);
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

function releaseLock(file: string): void {
  if (readPid(file) === process.pid) rmSync(file, { force: true });
}

function discardLock(file: string): void {
  const aside = `${file}.stale-${process.pid}`;
  try {
    renameSync(file, aside);
    rmSync(aside, { force: true });
  } catch {
    // Another process found it abandoned as well, and was quicker.
  }
}
