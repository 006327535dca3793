import { sql } from '@mikro-orm/postgresql';
import { readFileSync, readdirSync } from 'node:fs';
import { startBenchSystem } from './system.ts';
import { makeId } from '../db/ids.ts';
import { forkEm, openDatabase } from '../db/orm.ts';
import { createCallers } from './chat/callers.ts';
const system = await startBenchSystem({});
await createCallers(system, 0);
const db = openDatabase({ url: system.databaseUrl, connectionsMax: 2 });
const em = () => forkEm(db);
const [k] = await em().execute<any[]>('select id, user_id from api_key limit 1');
const cpu = () =>
  readdirSync('/proc')
    .filter((x) => /^\d+$/.test(x))
    .map((p) => {
      try {
        const c = readFileSync(`/proc/${p}/cmdline`, 'utf8');
        const s = readFileSync(`/proc/${p}/stat`, 'utf8');
        const f = s.slice(s.lastIndexOf(')') + 2).split(' ');
        return [c.replaceAll('\0', ' ').slice(0, 60), (Number(f[11]) + Number(f[12])) * 10] as const;
      } catch {
        return ['', 0] as const;
      }
    })
    .filter(([c]) => c.includes('postgres'));
const run = async (n: number, rounds: number) => {
  let a = 0,
    b = 0,
    c = 0;
  const before = new Map(cpu().map(([k2, v], i) => [k2 + i, v]));
  const t0 = performance.now();
  for (let i = 0; i < rounds; i++) {
    const ids = Array.from({ length: n }, () => makeId('res'));
    const items = ids.map((id, q) => ({
      n: q,
      id,
      user_id: k.user_id,
      key_id: k.id,
      model: 'm',
      stream: false,
      amount: '1000',
      request_id: 'r',
    }));
    let t = performance.now();
    await em().execute(sql`select 1`);
    c += performance.now() - t;
    t = performance.now();
    await em().execute(
      sql`select n, verdict, available from reserve_calls(${JSON.stringify(items)}::jsonb, ${60})`,
    );
    a += performance.now() - t;
    t = performance.now();
    const ends = ids.map((id, q) => ({
      n: q,
      id,
      call_id: makeId('call'),
      transaction_id: makeId('txn'),
      entry_id: makeId('led'),
      counter_entry_id: makeId('led'),
      charged: '500',
      loss: '0',
      status: 'completed',
      prompt_tokens: 1,
      completion_tokens: 1,
      billing_basis: 'upstream',
      latency_ms: 1,
      tried: [],
    }));
    await em().execute(sql`select id from settle_calls(${JSON.stringify(ends)}::jsonb)`);
    b += performance.now() - t;
  }
  const wall = performance.now() - t0;
  console.log(
    n,
    'select1',
    (c / rounds).toFixed(2),
    'reserve',
    (a / rounds).toFixed(2),
    'settle',
    (b / rounds).toFixed(2),
    'wall',
    wall.toFixed(0),
  );
  for (const [i, [name, v]] of cpu().entries()) {
    const d = v - (before.get(name + i) ?? 0);
    if (d > 20) console.log('   ', name, d, 'ms', (d / rounds / n).toFixed(3), 'per call');
  }
};
await run(1, 50);
await run(1, 1000);
await run(10, 300);
await run(50, 100);
await run(1, 1000);
await db.close();
await system.stop();
process.exit(0);
