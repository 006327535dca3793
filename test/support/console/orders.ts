// Orders that the tests of the console look at.
import { expect } from 'chai';
import type { TestUser } from '../servers/gateway.ts';
import { until } from '../until.ts';

const MODEL = 'gpt-image-2';

/** Orders an image with the user's key; resolves to the task's id. */
export async function order(user: TestUser, prompt: string): Promise<string> {
  const answer = await user.key.post('/v1/images/generations', { model: MODEL, prompt });
  expect(answer.status).to.equal(202);
  return answer.body.id;
}

export async function ended(user: TestUser, id: string): Promise<void> {
  await until(
    `${id} has ended`,
    async () => (await user.session.get(`/api/tasks/${id}`)).body.data.completedAt,
  );
}
