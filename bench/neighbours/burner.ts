// Uses the processor time that the product and the victim leave, until its input ends: what an attacker costs
// others merely because they share a machine.
import { setImmediate } from 'node:timers/promises';
import { lowerPriority } from '../../dev/priority.ts';

const STRETCH_MS = 20;

lowerPriority(process.pid, 'least');
process.stdin.resume().once('end', () => process.exit(0));
for (;;) {
  for (const until = performance.now() + STRETCH_MS; performance.now() < until;) Math.sqrt(Math.random());
  await setImmediate(); // the end of the input is noticed
}
