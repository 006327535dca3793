// How much garbage the heaps of this process may hold.
import { setFlagsFromString } from 'node:v8';

/**
 * A collection of all garbage is begun when a heap has grown by this share since the one before. V8 by itself
 * lets it grow to up to four times of what lives, where the machine has much memory: a worker with thousands
 * of waiting jobs then holds more garbage than jobs.
 */
const GROWTH_PERCENT = 50;

/** Call it before other threads are started. */
export function limitGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
