// Ordering a family's videos on /v1/videos/generations and following them to their end.
import { expect } from 'chai';
import { SENSITIVE_PARTS } from '../../sandbox/error-text.ts';
import { expectNoEffect } from './http/effects.ts';
import { expectError } from './http/expect-error.ts';
import type { TestGateway, TestUser } from './servers/gateway.ts';
import type { Answer } from './http/http.ts';
import { readJobs } from './servers/sandbox.ts';
import { uniqueWord } from './tasks.ts';
import { untilFinal } from './until.ts';

const PATH = '/v1/videos/generations';

/** `model`: of orders whose fields name no other. Gateway and owner are asked for when they are there. */
export function videoOrders(parts: () => { gateway: TestGateway; owner: TestUser }, model: string) {
  const orderedAs = async (word: string) => {
    const jobs = await readJobs(parts().gateway.sandboxUrl, word);
    return jobs.map(({ ordered }) => ordered);
  };
  return {
    /** Must be accepted. Answers what the caller is told, with the word that finds it in the sandbox. */
    async order(fields: object = {}, directives = 'seconds=0') {
      const word = uniqueWord();
      const prompt = `${word} [[sandbox ${directives}]]`;
      const { status, body } = await parts().owner.key.post(PATH, { model, prompt, ...fields });
      expect(status, JSON.stringify(body)).to.equal(202);
      return { word, prompt, ...body.data };
    },

    /** Waits for the end. Answers the task as the key reads it. */
    async finish(id: string): Promise<Answer['body']> {
      const { owner } = parts();
      await untilFinal(owner.session, id);
      return (await owner.key.get(`/v1/videos/tasks/${id}`)).body.data;
    },

    /** What the vendor was asked for, in its words, job by job. */
    orderedAs,

    /** The order must be refused with 400, naming the field and what is allowed, and leave nothing behind. */
    async expectRefused(fields: object, param: string, allowed: string): Promise<void> {
      const { gateway, owner } = parts();
      const body = { model, prompt: 'a fox', ...fields };
      const answer = await expectNoEffect(gateway, () => owner.key.post(PATH, body));
      expectError(answer, 400, 'invalid_value', param);
      expect(answer.body.error.message).to.contain(allowed);
    },
  };
}

/** A failure that cost nothing and tells nothing about the vendor's machines and people. */
export function expectMaskedFailure(task: Answer['body'], place: string): void {
  expect(task, place).to.include({ status: 'failed', creditsCharged: 0, outputUrl: null });
  for (const part of [...Object.values(SENSITIVE_PARTS), 'vendor-backend'])
    expect(task.errorMessage, place).not.to.contain(part);
}
