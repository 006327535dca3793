// Tests of directives that work alike for all vendors; each vendor's file adds them with its own figures.

import { expect } from 'chai';
import type { Sandbox } from '../../sandbox/server.ts';
import { type HttpAnswer, isCutOff, newPrompt, readJobs, readJournal } from './support.ts';

export interface Submissions {
  sandbox(): Sandbox;
  /** Submits an order with this prompt. */
  submit(prompt: string): Promise<HttpAnswer>;
}

/** Adds a test per row of a value of `submit` and what `read` returns of the answer. */
export function itRefusesWithoutJob(
  { sandbox, submit }: Submissions,
  rows: readonly (readonly [directive: string, ...expected: unknown[]])[],
  read: (answer: HttpAnswer) => unknown[],
): void {
  for (const [directive, ...expected] of rows)
    it(`answers submit=${directive} with ${expected.join(' ')}, without a job`, async () => {
      const { prompt, marker } = newPrompt(`submit=${directive}`);
      const answer = await submit(prompt);
      expect(read(answer), answer.text).to.eql(expected);
      expect(await readJobs(sandbox(), marker)).to.eql([]);
    });
}

/** Adds a test per way to lose an answer: the job exists if it was created before. */
export function itBreaksConnections({ sandbox, submit }: Submissions): void {
  for (const [fault, jobs] of [
    ['reset', 0],
    ['accept_then_reset', 1],
    ['truncated', 1],
  ] as const)
    it(`breaks the connection with submit=${fault}, leaving ${jobs} jobs`, async () => {
      const { prompt, marker } = newPrompt(`seconds=0 submit=${fault}`);
      expect(await isCutOff(submit(prompt))).to.equal(true);
      expect(await readJobs(sandbox(), marker)).to.have.length(jobs);
      const [entry] = await readJournal(sandbox(), marker);
      expect(entry).to.include({ status: fault === 'truncated' ? 200 : null, clientClosedAt: null });
    });
}

/** Adds a test of all values of `usage`; `usageOf` returns a figure of a job that ended with a directive. */
export function itDistortsUsage(honest: number, usageOf: (directives: string) => Promise<unknown>): void {
  it('reports the consumption as the directive usage says', async () => {
    expect(await usageOf('usage=honest')).to.equal(honest);
    expect(await usageOf('usage=missing')).to.equal(undefined);
    expect(await usageOf('usage=zero')).to.equal(0);
    expect(await usageOf('usage=negative')).to.equal(-honest);
    expect(await usageOf('usage=triple')).to.equal(honest * 3);
    expect(await usageOf('usage=huge')).to.be.greaterThan(Number.MAX_SAFE_INTEGER);
    expect(await usageOf('usage=text')).to.be.a('string');
  });
}
