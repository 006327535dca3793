// The effects of a request: rows, credits and calls to vendors, as one value to compare before and after.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import type { TestGateway } from '../servers/gateway.ts';
import type { Answer } from './http.ts';
import { readJournal } from '../servers/sandbox.ts';

/** Runs the request and fails if it moved credits, wrote a task or reached a vendor. */
export async function expectNoEffect(gateway: TestGateway, act: () => Promise<Answer>): Promise<Answer> {
  const before = await readEffects(gateway);
  const answer = await act();
  expect(await readEffects(gateway), 'effects').to.deep.equal(before);
  return answer;
}

async function readEffects(gateway: TestGateway): Promise<object> {
  const [counts] = await gateway.em().execute<object[]>(sql`
    select (select count(*) from task) as tasks, (select count(*) from task_event) as events,
           (select count(*) from task_attempt) + (select count(*) from chat_call) as reservations,
           (select count(*) from ledger_transfer) as moves,
           sum(balance) as balance, sum(reserved + earmarked) as reserved
    from account`);
  // Polls of a job that was just cancelled may still be under way; they change nothing.
  const calls = (await readJournal(gateway.sandboxUrl, '')).filter(({ operation }) => operation === 'submit');
  return { ...counts, vendorCalls: calls.length };
}
