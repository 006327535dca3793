// Gemini images: ordered in the console, read on /v1, several pictures from several calls.
import { expect } from 'chai';
import { expectError } from '../../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../../support/servers/gateway.ts';
import { PNG_DATA_URI } from '../../../support/inputs.ts';
import { countSubmissions, readJobs } from '../../../support/servers/sandbox.ts';
import { uniqueWord } from '../../../support/tasks.ts';
import { untilFinal } from '../../../support/until.ts';
import { expectMaskedFailure } from '../../../support/video-orders.ts';

const MODEL = 'gemini-nano-banana-2.1';

describe('Gemini images in the console', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(10_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const post = (fields: object) =>
    owner.session.post('/api/tasks', { mode: 'image', model: MODEL, ...fields });
  const order = async (fields: object, directives = 'seconds=0') => {
    const word = uniqueWord();
    const { status, body } = await post({ prompt: `${word} [[sandbox ${directives}]]`, ...fields });
    expect(status, JSON.stringify(body)).to.equal(202);
    return { word, ...body.data };
  };
  const finish = async (id: string) => {
    await untilFinal(owner.session, id);
    return (await owner.key.get(`/v1/images/tasks/${id}`)).body;
  };

  it('complete, cost a price per picture and are served as files', async () => {
    const { id, word, creditsEstimate } = await order({ size: '16:9', resolution: '2K' });
    const task = await finish(id);
    expect(task).to.include({ status: 'completed', creditsCharged: 10.08 });
    expect(creditsEstimate).to.equal(10.08);
    const picture = await fetch(task.outputUrl);
    expect(picture.headers.get('content-type')).to.equal('image/png');
    const ordered = { model: MODEL, aspectRatio: '16:9', imageSize: '2K', inputImages: 0, withText: false };
    expect((await readJobs(gateway.sandboxUrl, word)).map((job) => job.ordered)).to.deep.equal([ordered]);
  });

  it('take one call each, and only what was delivered is charged', async () => {
    const whole = await order({ n: 3, image_urls: [PNG_DATA_URI] });
    expect(whole.creditsEstimate).to.equal(20.16);
    expect(await finish(whole.id)).to.include({ status: 'completed', creditsCharged: 20.16 });
    expect(await countSubmissions(gateway.sandboxUrl, whole.word)).to.equal(3);
    for (const trouble of ['submit=429*1', 'submit=400*2', 'submit=reset*1']) {
      const delivered = trouble.endsWith('2') ? 1 : 2;
      const { id, word } = await order({ n: 3 }, `seconds=0 ${trouble}`);
      const task = await finish(id);
      expect(task, trouble).to.include({ status: 'completed', creditsCharged: 6.72 * delivered });
      expect(task.result.data, trouble).to.have.length(delivered);
      expect(await countSubmissions(gateway.sandboxUrl, word), trouble).to.equal(3);
    }
  });

  it('are tried again when no call was received, and cost nothing when all were refused', async () => {
    const again = await order({ n: 2 }, 'seconds=0 submit=429*2');
    expect(await finish(again.id)).to.include({ status: 'completed', creditsCharged: 13.44 });
    for (const directives of ['outcome=moderated', 'outcome=fail reason=moderation', 'submit=400']) {
      const { id } = await order({ n: 2 }, `seconds=0 text=leaky ${directives}`);
      const task = await finish(id);
      expectMaskedFailure(task, directives);
    }
  });

  const refusals: [fields: object, param: string, allowed: string][] = [
    [{ resolution: '8K' }, 'resolution', '1K, 2K, 4K'],
    [{ size: '2:1' }, 'size', '21:9'],
    [{ size: '8:1', model: 'gemini-3-pro-image' }, 'size', '21:9'],
    [{ n: 5 }, 'n', '1 to 4'],
  ];
  for (const [fields, param, allowed] of refusals)
    it(`refuse ${JSON.stringify(fields)} and name what is allowed`, async () => {
      const answer = await post({ prompt: 'a fox', ...fields });
      expectError(answer, 400, 'invalid_value', param);
      expect(answer.body.error.message).to.contain(allowed);
    });

  it('are not for POST /v1/images/generations, which has one model', async () => {
    const answer = await owner.key.post('/v1/images/generations', { model: MODEL, prompt: 'a fox' });
    expectError(answer, 404, 'model_not_found', 'model');
    expect(answer.body.error.message).to.contain('POST /api/tasks');
  });
});
