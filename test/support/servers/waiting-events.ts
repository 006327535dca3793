// Workflows that wait for a slot in a new run after a few looks: no test could wait for thousands.
import { expect } from 'chai';

const LIMIT = 'WAITING_EVENTS_MAX = 10000';

/** Changes the bundled code: a run goes on in a new one when its history has `eventsMax` events. */
export function limitWaitingEvents(code: string, eventsMax: number): string {
  expect(code.split(LIMIT)).to.have.length(2);
  return code.replace(LIMIT, `WAITING_EVENTS_MAX = ${eventsMax}`);
}
