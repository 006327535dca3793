// A process of its own for the hostile user, which has what processor time the product and the victim leave.
//
// Reads one line from its parent: the attacks' names, the base URL and the keys. Writes a line when it
// begins, and one when it is told to stop by the end of its input: how much it had to send, and did.
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { ATTACKS, planRequests, type Told } from './attacks.ts';
import { lowerPriority } from '../../dev/priority.ts';

interface Order {
  names: string[];
  baseUrl: string;
  keys: string[];
}

lowerPriority(process.pid, 'least');
const stopping = new AbortController();
const told: Told = { planned: 0, sent: 0, answers: {} };
const noteSent = (): void => {
  if (!stopping.signal.aborted) told.sent += 1;
};
const note = (status: number | 'cut'): void => {
  if (!stopping.signal.aborted) told.answers[status] = (told.answers[status] ?? 0) + 1;
};

const [line] = await once(process.stdin.setEncoding('utf8'), 'data');
const { names, baseUrl, keys }: Order = JSON.parse(String(line));
const plays = names.flatMap((name) => ATTACKS[name]?.prepare() ?? []);
// Node's `fetch` says so when the last byte of a request was given to the socket.
subscribe('undici:request:bodySent', noteSent);
const beganAt = performance.now();
process.stdin.resume().once('end', () => {
  told.planned = names.reduce((sum, name) => sum + planRequests(name, performance.now() - beganAt), 0);
  stopping.abort();
});
const hostile = { baseUrl, keys, signal: stopping.signal, note, noteSent };
process.stdout.write('begins\n');
await Promise.all(plays.map((play) => play(hostile)));
process.stdout.write(`${JSON.stringify(told)}\n`, () => process.exit(0));
