// A process of its own for the hostile user, so that its work does not count as the victim's waiting.
//
// Reads one line from its parent: the attack's names, the base URL and the keys. Writes a line when it
// begins,
// and one when it is told to stop by the end of its input: how many answers had which status.
import { once } from 'node:events';
import { ATTACKS } from './attacks.ts';

interface Order {
  names: string[];
  baseUrl: string;
  keys: string[];
}

const stopping = new AbortController();
const counts = new Map<string, number>();
const note = (status: number | 'cut'): void => {
  if (!stopping.signal.aborted) counts.set(String(status), (counts.get(String(status)) ?? 0) + 1);
};

const [line] = await once(process.stdin.setEncoding('utf8'), 'data');
const { names, baseUrl, keys }: Order = JSON.parse(String(line));
process.stdin.resume().once('end', () => stopping.abort());
const hostile = { baseUrl, keys, signal: stopping.signal, note };
process.stdout.write('begins\n');
await Promise.all(names.flatMap((name) => ATTACKS[name]?.(hostile) ?? []));
process.stdout.write(`${JSON.stringify(Object.fromEntries(counts))}\n`, () => process.exit(0));
