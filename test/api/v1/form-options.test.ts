// Options of models in forms: as JSON, which clients made from the OpenAPI document send, and in brackets.
import { expect } from 'chai';
import { toFile } from 'openai';
import type OpenAI from 'openai';
import { sendForm } from '../../support/http/forms.ts';
import { openClient } from '../../support/http/openai-client.ts';
import { PNG_BASE64 } from '../../support/inputs.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

describe('options in a form', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let client: OpenAI;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(10_000);
    client = openClient(gateway, owner).client;
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  it('are the same with brackets, as OpenAI’s client writes them, and as JSON', async () => {
    const options = { seed: 7, watermark: true, audio: false, prompt_extend: false };
    const picture = await toFile(Buffer.from(PNG_BASE64, 'base64'), 'first.png', { type: 'image/png' });
    const prompt = 'waves [[sandbox seconds=0]]';
    const fields = { model: 'wan3.0-video', prompt, seconds: '2', input_reference: picture };
    const written: [string, string | Blob][] = [
      ['model', fields.model],
      ['prompt', fields.prompt],
      ['seconds', fields.seconds],
      ['input_reference', picture],
      ['metadata', new Blob([JSON.stringify(options)], { type: 'application/json' })],
    ];
    const asJson = await sendForm(owner.key, '/v1/videos', written);
    expect(asJson.status, JSON.stringify(asJson.body)).to.equal(200);
    const withBrackets = await client.videos.create({
      ...fields,
      metadata: options,
    } as OpenAI.VideoCreateParams);
    const rows = await gateway
      .em()
      .execute<{ ordered: object }[]>(
        `select ordered from task where id in ('${asJson.body.id}', '${withBrackets.id}')`,
      );
    const [one, other] = rows.map(({ ordered }) => ordered);
    expect(one).to.deep.equal(other);
    expect(one).to.include({ seed: 7, watermark: true, audio: false, promptExtension: false });
  });
});
