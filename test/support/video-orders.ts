// Orders a family's videos on /v1/videos/generations and follows them to their end.
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

/** `model` is the default of all orders. `gateway` and `owner` are called late, because hooks create them. */
export function videoOrders(parts: () => { gateway: TestGateway; owner: TestUser }, model: string) {
  const orderedAs = async (word: string) => {
    const jobs = await readJobs(parts().gateway.sandboxUrl, word);
    return jobs.map(({ ordered }) => ordered);
  };
  return {
    /**
     * Expects the order to be accepted; resolves to the response, with the word that finds it in the sandbox.
     */
    async order(fields: object = {}, directives = 'seconds=0') {
      const word = uniqueWord();
      const prompt = `${word} [[sandbox ${directives}]]`;
      const { status, body } = await parts().owner.key.post(PATH, { model, prompt, ...fields });
      expect(status, JSON.stringify(body)).to.equal(202);
      return { word, prompt, ...body.data };
    },

    /** Waits for the task's end; resolves to the task as it is read with the key. */
    async finish(id: string): Promise<Answer['body']> {
      const { owner } = parts();
      await untilFinal(owner.session, id);
      return (await owner.key.get(`/v1/videos/tasks/${id}`)).body.data;
    },

    /** The vendor's view of the order: the parameters of each job. */
    orderedAs,

    /** Expects 400 that names the field and what is allowed, and no task, charge or request to the vendor. */
    async expectRefused(fields: object, param: string, allowed: string): Promise<void> {
      const { gateway, owner } = parts();
      const body = { model, prompt: 'a fox', ...fields };
      const answer = await expectNoEffect(gateway, () => owner.key.post(PATH, body));
      expectError(answer, 400, 'invalid_value', param);
      expect(answer.body.error.message).to.contain(allowed);
    },
  };
}

/** Expects a failure that cost nothing and reveals nothing about the vendor's hosts and staff. */
export function expectMaskedFailure(task: Answer['body'], place: string): void {
  expect(task, place).to.include({ status: 'failed', creditsCharged: 0, outputUrl: null });
  for (const part of [...Object.values(SENSITIVE_PARTS), 'vendor-backend'])
    expect(task.errorMessage, place).not.to.contain(part);
}
