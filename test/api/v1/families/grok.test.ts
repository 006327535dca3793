// Grok Imagine through the public API: what input images are for, and who pays for what its moderation
// dislikes.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { readMetricsSnapshot } from '../../../../db/metrics-snapshot.ts';
import { expectError } from '../../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../../support/servers/gateway.ts';
import { PNG_DATA_URI } from '../../../support/inputs.ts';
import { readJobs } from '../../../support/servers/sandbox.ts';
import { uniqueWord, untilPolled } from '../../../support/tasks.ts';
import { untilFinal } from '../../../support/until.ts';

const PATH = '/v1/videos/generations';

describe('Grok Imagine on /v1/videos/generations', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(10_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const order = async (fields: object, directives = 'seconds=0') => {
    const word = uniqueWord();
    const prompt = `${word} [[sandbox ${directives}]]`;
    const { status, body } = await owner.key.post(PATH, { model: 'grok-imagine-video', prompt, ...fields });
    expect(status, JSON.stringify(body)).to.equal(202);
    return { word, task: await untilFinal(owner.session, body.data.id) };
  };
  const images = (count: number) => Array.from({ length: count }, () => PNG_DATA_URI);

  const accepted: [fields: object, inputImages: number, credits: number][] = [
    [{ duration: 1, reference_images: images(1) }, 1, 14.4],
    [{ duration: 10, reference_images: images(7) }, 7, 142.8],
    [{ duration: 1, model: 'grok-imagine-video-1.5', image_urls: images(2) }, 2, 32],
    [{ duration: 1, model: 'grok-imagine-video-1.5', reference_images: images(3) }, 3, 34],
  ];
  for (const [fields, inputImages, credits] of accepted)
    it(`makes a video of ${JSON.stringify(fields).slice(0, 60)}…, paying for every image`, async () => {
      const { word, task } = await order(fields);
      expect(task).to.include({ status: 'completed', creditsCharged: credits });
      const [job] = await readJobs(gateway.sandboxUrl, word);
      expect(job?.ordered).to.include({ inputImages });
    });

  const refused: [fields: object, param: string, allowed: string][] = [
    [{ duration: 11, reference_images: images(1) }, 'duration', '1 to 10'],
    [{ reference_images: images(8) }, 'reference_images', 'at most 7'],
    [{ model: 'grok-imagine-video-1.5-lite', image_urls: images(2) }, 'image_urls', 'at most 1'],
    [
      { model: 'grok-imagine-video-1.5', resolution: '1080p', reference_images: images(1) },
      'resolution',
      '480p, 720p',
    ],
  ];
  for (const [fields, param, allowed] of refused)
    it(`refuses ${JSON.stringify(fields).slice(0, 60)}… and names what is allowed`, async () => {
      const answer = await owner.key.post(PATH, { model: 'grok-imagine-video', prompt: 'a fox', ...fields });
      expectError(answer, 400, 'invalid_value', param);
      expect(answer.body.error.message).to.contain(allowed);
    });

  it('costs its owner nothing when it is moderated: what the vendor bills is the operator’s loss', async () => {
    const lossBefore = (await readMetricsSnapshot(gateway.database)).loss;
    const { task } = await order({ duration: 2 }, 'seconds=0 outcome=moderated');
    expect(task).to.include({ status: 'failed', errorCode: 'content_rejected', creditsCharged: 0 });
    const rows = await gateway.em().execute<{ state: string; loss: string }[]>(sql`
      select state, loss from task_attempt where task_id = ${task.id}`);
    expect(rows).to.deep.equal([{ state: 'released', loss: '28000000' }]);
    expect((await readMetricsSnapshot(gateway.database)).loss - lossBefore).to.equal(28);
    expect(gateway.logged()).to.contain('the upstream cost more than was charged');
  });

  it('costs its owner nothing either when the owner cancels just before the vendor tells', async () => {
    const word = uniqueWord();
    // The first look hangs, so that the end of the job is still unknown when the cancellation comes.
    const prompt = `${word} [[sandbox seconds=0 outcome=moderated poll=hang*1]]`;
    const { body } = await owner.key.post(PATH, { model: 'grok-imagine-video', prompt, duration: 1 });
    const { id } = body.data;
    await untilPolled(gateway, { id, word });
    await owner.session.delete(`/api/tasks/${id}`);
    expect(await untilFinal(owner.session, id)).to.include({ status: 'cancelled', creditsCharged: 0 });
    const rows = await gateway.em().execute<{ state: string; loss: string }[]>(sql`
      select state, loss from task_attempt where task_id = ${id}`);
    expect(rows).to.deep.equal([{ state: 'released', loss: '14000000' }]);
  });

  it('loses nothing by a failure that is not billed, or whose bill makes no sense', async () => {
    for (const directives of [
      'outcome=fail',
      'outcome=moderated usage=missing',
      'outcome=moderated usage=huge',
    ]) {
      const { task } = await order({ duration: 1 }, `seconds=0 ${directives}`);
      const rows = await gateway.em().execute<{ loss: string }[]>(sql`
        select loss from task_attempt where task_id = ${task.id}`);
      expect(rows, directives).to.deep.equal([{ loss: '0' }]);
    }
  });
});
