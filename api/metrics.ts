// What the internal listener tells Prometheus. Figures of the database are read when it asks.
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { forkEm } from '../db/orm.ts';
import { countFrozenAccounts, countViolations } from '../db/violations.ts';
import type { Gateway } from './gateway.ts';

/** A registry of its own per gateway, so that several can live in one process. */
export function createMetrics(gateway: Gateway): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const violations: Gauge<'rule'> = new Gauge({
    name: 'svc_ledger_violations',
    help: 'Rules of money that the last check found broken; anything but 0 is an alarm',
    labelNames: ['rule'],
    registers: [registry],
    collect: async () => {
      violations.reset();
      for (const { rule, count } of await countViolations(forkEm(gateway.database)))
        violations.set({ rule }, count);
    },
  });
  const frozen: Gauge = new Gauge({
    name: 'svc_accounts_frozen',
    help: 'Accounts that may not spend until an administrator has looked at them',
    registers: [registry],
    collect: async () => frozen.set(await countFrozenAccounts(forkEm(gateway.database))),
  });
  return registry;
}
