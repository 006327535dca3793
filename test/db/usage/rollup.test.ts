// Summaries of usage under any mix of charges, refunds, grants and ends, however much of it is in the sums:
// they are what the rows say, to the micro-credit.
import { expect } from 'chai';
import { sql } from '@mikro-orm/postgresql';
import fc from 'fast-check';
import { createUsageRollup } from '../../../activities/usage-rollup.ts';
import { forkEm, type Em } from '../../../db/database.ts';
import {
  findComparisonViolations,
  findUsageViolations,
  listComparedSpans,
} from '../../../db/ledger/usage-sums.ts';
import { listSixHours } from '../../../db/migrations/103-usage-six-hours.ts';
import { addEnds, addTransfers, readHorizon, spanQuarters } from '../../../db/usage/rollup.ts';
import type { UsageRow } from '../../../db/usage/intervals.ts';
import { readUsage } from '../../../db/usage/summary.ts';
import { ALL_USAGE_GROUPS, USAGE_INTERVALS, type UsageGroup } from '../../../domain/usage.ts';
import * as rows from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { addPastCall } from '../../support/usage.ts';
import { PastUsage, type Happening } from '../../support/past-usage.ts';

const SEED = Number(process.env['TEST_SEED'] ?? 1);
const LIMIT_MS = Number(process.env['TEST_SECONDS'] ?? 6) * 1_000;
const ZONES = [
  'UTC',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'America/New_York',
];
const GROUPS: readonly UsageGroup[] = ['none', 'model', 'key', 'kind', 'user'];
const QUARTER_MS = 15 * 60_000;
const DAY_MS = 86_400_000;
const FAR = new Date(Date.now() + 86_400_000);

const place = fc.integer({ min: 0, max: 2 });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('call', 'free call', 'abandoned call', 'video', 'failed task'),
    user: place,
    key: place,
    model: place,
    minutes: fc.integer({ min: 0, max: 900 }),
  }),
  fc.record({ kind: fc.constantFrom('retry', 'correction', 'refund', 'grant'), user: place }),
  fc.record({
    kind: fc.constantFrom('carry', 'carry transfers', 'carry twice at once'),
    minutes: fc.integer({ min: 0, max: 900 }),
  }),
);
const question = fc.record({
  user: fc.option(place),
  zone: fc.constantFrom(...ZONES),
  interval: fc.constantFrom(...USAGE_INTERVALS),
  group: fc.constantFrom(...GROUPS),
  from: fc.integer({ min: 0, max: 40_000 }),
  minutes: fc.integer({ min: 1, max: 40_000 }),
  isWhole: fc.boolean(),
  /** Both ends are multiples of it. */
  stepMs: fc.constantFrom(1, QUARTER_MS, DAY_MS),
});

describe(`summaries of usage (seed ${SEED}; set another one with TEST_SEED, longer with TEST_SECONDS)`, function () {
  this.timeout(LIMIT_MS * 3 + 120_000);
  let test: TestDatabase;
  const em = () => forkEm(test.database);

  beforeEach(async () => {
    test = await createDatabase();
  });
  afterEach(() => test.drop());

  it('are what the rows say, wherever the sums end', async () => {
    const run = fc.asyncProperty(
      fc.array(happening, { minLength: 10, maxLength: 40, size: 'max' }),
      fc.array(question, { minLength: 4, maxLength: 8 }),
      async (happenings, questions) => {
        const past = await PastUsage.create(test.database);
        for (const each of happenings) await past.happen(each);
        for (const { user, zone, interval, group, from, minutes, isWhole, stepMs } of questions) {
          const begin = isWhole ? past.beganAt : floor(past.minutesIn(from), stepMs);
          const to = isWhole ? null : floor(past.minutesIn(from + minutes), stepMs);
          const userId = user === null ? null : past.userAt(user);
          const request = { userId, from: begin, to, interval, timezone: zone, group };
          const answer = await readUsage(em(), { ...request, families: new Map(), rowsMax: 100_000 });
          if (answer.kind !== 'summary') throw new Error(answer.kind);
          expect(answer.rows.map(write), JSON.stringify(request)).to.deep.equal(
            await past.readFromRows(request),
          );
        }
        expect(await findUsageViolations(em(), ['', ...past.userIds])).to.deep.equal([]);
        for (const span of await listComparedSpans(em()))
          expect(await findComparisonViolations(em(), span)).to.deep.equal([]);
      },
    );
    await fc.assert(run, {
      seed: SEED,
      interruptAfterTimeLimit: LIMIT_MS,
      numRuns: 10_000,
      markInterruptAsFailure: false,
    });
  });

  for (const isSpanned of [false, true])
    it(`of whole days in the past, which sums ${isSpanned ? 'by day' : 'by quarter alone'} answer, are grouped by everything`, async () => {
      const owner = await rows.createOwner(em(), 1_000n);
      const day = floor(new Date(Date.now() - 3 * DAY_MS), DAY_MS);
      const at = new Date(day.getTime() + DAY_MS / 2).toISOString();
      await addPastCall(em(), { userId: owner, at, charge: 5 });
      await addTransfers(em(), '');
      for (let end = new Date(0); end < FAR;) ({ until: end } = await addEnds(em(), FAR, Infinity));
      if (isSpanned) await spanQuarters(em());
      const groups: Readonly<Record<(typeof ALL_USAGE_GROUPS)[number], string | null>> = {
        none: null,
        model: 'gpt-6-luna',
        key: 'key_none',
        kind: 'chat',
        family: 'openai',
        user: owner,
      };
      const families = new Map([['gpt-6-luna', 'openai']]);
      const period = {
        from: day,
        to: new Date(day.getTime() + DAY_MS),
        timezone: 'UTC',
        families,
        rowsMax: 10,
      };
      for (const group of ALL_USAGE_GROUPS)
        for (const userId of [owner, null]) {
          const answer = await readUsage(em(), { ...period, userId, interval: 'day', group });
          const told =
            answer.kind === 'summary' &&
            answer.rows.map(({ start, ...row }) => [start, row.group, row.credits]);
          expect(told, group).to.deep.equal([[day, groups[group], 5n]]);
        }
    });

  it('are found by the check where any of their sums was changed', async () => {
    const owner = await rows.createOwner(em(), 1_000n);
    await addPastCall(em(), {
      userId: owner,
      at: new Date(Date.now() - 3 * DAY_MS).toISOString(),
      charge: 5,
    });
    await addTransfers(em(), '');
    for (let end = new Date(0); end < FAR;) ({ until: end } = await addEnds(em(), FAR, Infinity));
    await spanQuarters(em());
    const countViolations = async (tx: Em): Promise<number> => {
      const found = await findUsageViolations(tx, ['', owner]);
      for (const span of await listComparedSpans(tx))
        found.push(...(await findComparisonViolations(tx, span)));
      return found.length;
    };
    expect(await countViolations(em())).to.equal(0);
    for (const change of [
      `update usage_span set calls = calls + 1 where span = 'hour' and user_id <> ''`,
      `update usage_span set images = images + 1 where span = 'six_hours' and user_id <> ''`,
      `update usage_comparison set tasks = tasks + 1 where span = 'six_hours' and key_id <> '*'`,
      `update usage_span set loss = loss + 1 where span = 'month' and user_id = ''`,
      `update usage_comparison set failed = failed + 1 where span = 'hour' and key_id <> '*'`,
      `update usage_comparison set credits = credits - 1 where span = 'day' and key_id = '*'`,
      `delete from usage_comparison where span = 'month'`,
      `update usage_mark set charged = charged + 1`,
    ]) {
      const tx = em();
      await tx.begin();
      await tx.execute(change);
      expect(await countViolations(tx), change).to.be.above(0);
      await tx.rollback();
    }
    const tx = em();
    await tx.begin();
    for (const table of ['usage_span', 'usage_comparison'])
      await tx.execute(`delete from ${table} where span = 'six_hours'`);
    expect(await countViolations(tx)).to.be.above(0);
    for (const statement of await listSixHours((text) => tx.execute(text))) await tx.execute(statement);
    expect(await countViolations(tx), 'six hours made of hours').to.equal(0);
    await tx.rollback();
  });

  it('miss nothing that commits late', async () => {
    const owner = await rows.createOwner(em(), 1_000n);
    await addEnds(em(), await readHorizon(em()), Infinity);
    let horizon = new Date(0);
    await em().transactional(async (tx) => {
      const [row] = await tx.execute<{ at: string }[]>(sql`select now() as at`);
      const at = row?.at ?? '';
      await addPastCall(tx, { userId: owner, at: new Date(at).toISOString(), charge: 5 });
      horizon = await readHorizon(em());
      expect(horizon.getTime()).to.be.below(Date.parse(at));
      await addTransfers(em(), '');
      await addEnds(em(), horizon, Infinity);
    });
    await createUsageRollup({ database: test.database }).rollUpUsage();
    await addEnds(em(), FAR, Infinity);
    const [sums] = await em().execute<{ calls: number; credits: number }[]>(sql`
      select sum(calls)::int as calls, sum(credits)::int as credits from usage_rollup where user_id = ${owner}`);
    expect(sums).to.deep.equal({ calls: 1, credits: 5 });
  });
});

/** The last multiple of `stepMs` before it. */
function floor(at: Date, stepMs: number): Date {
  return new Date(Math.floor(at.getTime() / stepMs) * stepMs);
}

/** As `PastUsage.readFromRows` writes it. */
function write({
  start,
  group,
  credits,
  tasks,
  calls,
  failed,
  promptTokens,
  completionTokens,
  images,
  seconds,
  loss,
}: UsageRow): string {
  const tokens = [promptTokens, completionTokens];
  return [start.toISOString(), group, credits, tasks, calls, failed, ...tokens, images, seconds, loss].join(
    ' ',
  );
}
