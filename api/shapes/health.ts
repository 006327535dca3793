// JSON of the state of the whole service, for administrators.
import { z } from 'zod';
import { instant } from './basics.ts';

const count = z.int().min(0);
const queue = z.strictObject({ count, oldestSeconds: z.number().describe('Age of the oldest.') });

const VENDOR = z.strictObject({
  credential: z.string().nullable().describe('Id of the operator’s credential, made from its hash.'),
  jobs: count.describe('At the vendor at this moment.'),
  cooldown: z
    .strictObject({ reason: z.enum(['auth', 'quota', 'rate', 'concurrency']), until: instant })
    .nullable()
    .describe('Why it takes no new work, and until when.'),
  lastHour: z.strictObject({
    completed: count,
    failed: count,
    seconds: z
      .strictObject({ p50: z.number(), p90: z.number() })
      .nullable()
      .describe('From start to end of the completed ones.'),
  }),
});
export type VendorView = z.output<typeof VENDOR>;

export const HEALTH = z
  .strictObject({
    tasks: z.array(
      z.strictObject({ status: z.enum(['queued', 'in_progress']), count, oldestSeconds: z.number() }),
    ),
    unstarted: queue.describe('Queued tasks that no workflow has taken up.'),
    reservations: queue.describe('Reservations that wait for their end.'),
    vendors: z
      .array(z.strictObject({ family: z.string(), credentials: z.array(VENDOR) }))
      .describe('Credentials with jobs, a cooldown or tasks that ended in the last hour.'),
    limiter: z
      .strictObject({
        redis: z.enum(['ok', 'down', 'none']),
        breakerOpen: z.boolean(),
        refused: z.record(z.string(), count).describe('Requests refused with 429, by what counted them.'),
      })
      .describe('Of the server that answers.'),
    waiting: z
      .strictObject({ streams: count, calls: count })
      .describe('Streams of events and calls that wait, of the server that answers.'),
    violations: z.array(z.strictObject({ rule: z.string(), count })).describe('Broken rules of money.'),
    frozenAccounts: count,
  })
  .meta({ id: 'Health', description: 'The state of the service, as its metrics have it.' });
export type HealthView = z.output<typeof HEALTH>;
