// Workflows that wait for a slot for moments, where those of production do for hours and days.
import { expect } from 'chai';

/** Changes the bundled code: a run goes on in a new one when its history has `eventsMax` events. */
export function limitWaitingEvents(code: string, eventsMax: number): string {
  return replaceOnce(code, 'WAITING_EVENTS_MAX = 10000', `WAITING_EVENTS_MAX = ${eventsMax}`);
}

/** Changes the bundled code: a task that has no slot `secondsMax` after its start fails. */
export function limitWaitingSeconds(code: string, secondsMax: number): string {
  const neededMs = (7 * 24 * 3600 - secondsMax) * 1000;
  return replaceOnce(code, 'AFTER_DEADLINE_MS = 3600000', `AFTER_DEADLINE_MS = ${neededMs}`);
}

function replaceOnce(code: string, from: string, to: string): string {
  expect(code.split(from), from).to.have.length(2);
  return code.replace(from, to);
}
