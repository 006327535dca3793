// POST /v1/images/edits: forms as OpenAI's clients send them, and JSON.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateImage } from 'ai';
import { expect } from 'chai';
import OpenAI, { toFile } from 'openai';
import type { Answer } from '../../support/http/http.ts';
import { sendForm } from '../../support/http/forms.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { failureOf } from '../../support/http/openai-client.ts';
import { PNG_BASE64, PNG_DATA_URI } from '../../support/inputs.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { readJournal } from '../../support/servers/sandbox.ts';
import { uniqueWord } from '../../support/tasks.ts';

const PATH = '/v1/images/edits';
const PIXEL = Buffer.from(PNG_BASE64, 'base64');
const WAIT = { prefer: 'wait=60' };
const prompt = 'at night [[sandbox seconds=0]]';

describe('POST /v1/images/edits', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let client: OpenAI;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(10_000);
    const options = { apiKey: owner.apiKey, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 };
    client = new OpenAI({ ...options, defaultHeaders: WAIT });
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const pixel = () => toFile(PIXEL, 'pixel.png', { type: 'image/png' });
  /** Sends the parts as one form; a Buffer is a file. */
  const send = (parts: readonly (readonly [string, string | Buffer | Blob])[]): Promise<Answer> => {
    const written = parts.map(
      ([name, value]) => [name, Buffer.isBuffer(value) ? new Blob([new Uint8Array(value)]) : value] as const,
    );
    return sendForm(owner.key, PATH, written);
  };

  it('edits one picture with OpenAI’s client for Node', async () => {
    const { data, created } = await client.images.edit({
      model: 'gpt-image-2',
      image: await pixel(),
      prompt,
      size: '1536x1024',
    });
    expect(created).to.be.above(1_700_000_000);
    expect((await fetch(data?.[0]?.url ?? '')).status).to.equal(200);
    const [task] = (await owner.session.get('/api/tasks?limit=1')).body.data;
    expect(task.requestPayload).to.include({ image: '[masked:data-uri image/png 70]', size: '1536x1024' });
  });

  it('hands several pictures over, to any model that takes some', async () => {
    for (const model of ['gpt-image-2', 'gemini-3-pro-image']) {
      const word = uniqueWord();
      const image = [await pixel(), await pixel(), await pixel()];
      const { data } = await client.images.edit({ model, image, prompt: `${word} ${prompt}`, n: 1 });
      expect(data).to.have.length(1);
      expect(await readJournal(gateway.sandboxUrl, word)).to.have.length(1);
    }
  });

  it('is the same task as reference_images of /v1/images/generations', async () => {
    const fields = { model: 'gpt-image-2', prompt, size: '3:2', n: 2 };
    const edited = await owner.key.post(PATH, { ...fields, image: PNG_DATA_URI });
    const generated = await owner.key.post('/v1/images/generations', {
      ...fields,
      reference_images: [PNG_DATA_URI],
    });
    expect(edited.status).to.equal(202);
    expect(edited.headers.get('location')).to.equal(`/v1/images/tasks/${edited.body.id}`);
    const { id: _one, created_at: _then, ...task } = edited.body;
    const { id: _other, created_at: _now, ...same } = generated.body;
    expect(task).to.deep.equal(same);
  });

  it('reads lists under each of their names, and numbers as the texts that forms have', async () => {
    for (const names of [['image'], ['image[]'], ['image', 'image'], ['image[]', 'image[]'], ['image[0]']]) {
      const files = names.map((name) => [name, PIXEL] as const);
      const { status, body } = await send([['prompt', prompt], ['n', '2'], ...files]);
      expect([status, body.creditsEstimate > 8], names.join()).to.deep.equal([202, true]);
    }
    const images = [{ image_url: PNG_DATA_URI }];
    expect((await owner.key.post(PATH, { prompt, images })).status).to.equal(202);
  });

  it('reads objects in objects as JSON would have them, and charges for none that it does not know', async () => {
    const cases: [name: string, param: string][] = [
      ['metadata[colour]', 'metadata.colour'],
      ['metadata[colour][warm]', 'metadata.colour'],
      ['metadata[colour][]', 'metadata.colour'],
      ['metadata[constructor][name]', 'metadata.constructor'],
      ['metadata[seed][start]', 'metadata.seed'],
      ['metadata[quality][a][b][]', 'metadata.quality'],
      ['metadata[0][seed]', 'metadata.0'],
      ['prompt[a][b]', 'prompt'],
    ];
    const sound = [['prompt', prompt] as const, ['image', PIXEL] as const];
    for (const [name, param] of cases)
      expectError(await send([...sound, [name, '1']]), 400, 'invalid_value', param);
    expect((await send([...sound, ['trace[a][b]', '1']])).status).to.equal(202);
  });

  it('reads a part that says it is JSON as its value, and refuses one that is not', async () => {
    const json = (text: string) => new Blob([text], { type: 'application/json' });
    const sound = [['prompt', prompt] as const, ['image', PIXEL] as const];
    const cases: [text: string, status: number, code: string | null, param: string | null][] = [
      ['{}', 202, null, null],
      ['{"resolution":"1K"}', 202, null, null],
      ['{"colour":"red"}', 400, 'invalid_value', 'metadata.colour'],
      ['{"seed":"often"}', 400, 'invalid_value', 'metadata.seed'],
      ['{"a":', 400, 'invalid_json', 'metadata'],
      ['', 400, 'invalid_json', 'metadata'],
      ['[1]', 400, 'invalid_value', 'metadata'],
      ['{"a":"\\u0000"}', 400, 'invalid_request', null],
      [`${'['.repeat(40)}${']'.repeat(40)}`, 400, 'invalid_request', null],
      [`[${'1,'.repeat(100_001)}1]`, 400, 'invalid_request', null],
      [`"${'x'.repeat(1024 * 1024)}"`, 413, 'payload_too_large', null],
    ];
    for (const [text, status, code, param] of cases) {
      const answer = await send([...sound, ['metadata', json(text)]]);
      if (code === null) expect([answer.status, text]).to.deep.equal([status, text]);
      else expectError(answer, status, code, param);
    }
    const half = json(`"${'x'.repeat(600_000)}"`);
    const twice = await send([...sound, ['metadata', half], ['metadata', half]]);
    expectError(twice, 413, 'payload_too_large', null);
  });

  it('refuses what it does not offer, and names the field', async () => {
    const sound = [['prompt', prompt] as const, ['image', PIXEL] as const];
    const cases: [Answer, number, string, string | null][] = [
      [await send([['prompt', prompt]]), 400, 'missing_field', 'image'],
      [await send([['image', PIXEL]]), 400, 'missing_field', 'prompt'],
      [await send([...sound, ['mask', PIXEL]]), 400, 'invalid_value', 'mask'],
      [await send([...sound, ['stream', 'true']]), 400, 'invalid_value', 'stream'],
      [await send([...sound, ['size', '17x17']]), 400, 'invalid_value', 'size'],
      [await send([...sound, ['n', 'two']]), 400, 'invalid_value', 'n'],
      [
        await send([
          ['prompt', prompt],
          ['image', Buffer.from('GIF89a')],
        ]),
        400,
        'invalid_image',
        'image',
      ],
      [
        await send([
          ['prompt', prompt],
          ['image', PIXEL.subarray(0, 40)],
        ]),
        400,
        'invalid_image',
        'image[0]',
      ],
      [
        await send([
          ['prompt', prompt],
          ['image', Buffer.alloc(0)],
        ]),
        400,
        'empty_file',
        'image',
      ],
      [await send([...sound, ['model', 'gpt-6-luna']]), 400, 'model_not_supported', 'model'],
      [await send(Array.from({ length: 21 }, () => ['image', PIXEL] as const)), 400, 'too_many_parts', null],
      [await send([...sound, ['prompt[a]', 'x']]), 400, 'invalid_value', 'prompt'],
      [
        await owner.key.post(PATH, { prompt, image: 'data:text/html;base64,AA' }),
        400,
        'invalid_image',
        'image[0]',
      ],
    ];
    for (const [answer, status, code, param] of cases) expectError(answer, status, code, param);
  });

  it('refuses forms that are broken, compressed or too long, and creates nothing', async () => {
    const type = 'multipart/form-data; boundary=x';
    const post = (body: string | Buffer, headers: Record<string, string>) =>
      owner.key.send('POST', PATH, { body, headers });
    const before = (await owner.session.get('/api/tasks')).body.data[0].id;
    const cut = await post('--x\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nat ni', {
      'content-type': type,
    });
    expectError(cut, 400, 'invalid_multipart', null);
    expectError(await post('', { 'content-type': 'multipart/form-data' }), 400, 'invalid_multipart', null);
    const zipped = await post('x', { 'content-type': type, 'content-encoding': 'gzip' });
    expectError(zipped, 415, 'unsupported_media_type', null);
    const long = await send([
      ['prompt', prompt],
      ['image', Buffer.alloc(33 * 1024 * 1024)],
    ]);
    expectError(long, 413, 'payload_too_large', null);
    expect((await owner.session.get('/api/tasks')).body.data[0].id).to.equal(before);
  });

  it('refuses a text that is not UTF-8, and takes the sign that decoders write for one', async () => {
    const post = (prompt: Buffer, type = 'text/plain') =>
      owner.key.send('POST', PATH, {
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
        body: Buffer.concat([
          Buffer.from(`--x\r\ncontent-disposition: form-data; name="image"\r\n\r\n${PNG_DATA_URI}\r\n`),
          Buffer.from(
            `--x\r\ncontent-disposition: form-data; name="prompt"\r\ncontent-type: ${type}\r\n\r\n`,
          ),
          prompt,
          Buffer.from('\r\n--x--\r\n'),
        ]),
      });
    const mangled = Buffer.from(`"Käse ${prompt}"`, 'latin1');
    expectError(await post(mangled), 400, 'invalid_multipart', 'prompt');
    expectError(await post(mangled, 'application/json'), 400, 'invalid_multipart', 'prompt');
    expect((await post(Buffer.from(`K\ufffdse ${prompt}`))).status).to.equal(202);
  });

  it('maps refusals in OpenAI’s client', async () => {
    const refused = client.images.edit({ image: await pixel(), prompt, mask: await pixel() });
    expect(await failureOf(refused))
      .to.be.instanceOf(OpenAI.BadRequestError)
      .and.to.include({ param: 'mask' });
  });

  it('edits with generateImage of the AI SDK', async () => {
    const provider = createOpenAICompatible({
      name: 'gateway',
      apiKey: owner.apiKey,
      baseURL: `${gateway.baseUrl}/v1`,
      headers: WAIT,
    });
    const { image } = await generateImage({
      model: provider.imageModel('gpt-image-2'),
      prompt: { text: prompt, images: [PIXEL] },
      maxRetries: 0,
    });
    expect(image.uint8Array.length).to.be.above(100);
  });
});
