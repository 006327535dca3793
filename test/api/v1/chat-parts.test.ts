// Parts of messages: what the catalogue prices is passed on, everything else is refused by its name.
import { expect } from 'chai';
import { expectError } from '../../support/http/expect-error.ts';
import { PNG_DATA_URI } from '../../support/inputs.ts';
import { CHAT_MODEL } from '../../support/chat.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

const PUBLIC = 'https://example.com/a.png';
const INSIDE = 'http://169.254.169.254/latest/';

describe('a message', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser(1_000);
  });
  after(() => gateway.stop());

  const ask = (message: object) =>
    owner.key.post('/v1/chat/completions', {
      ...{ model: CHAT_MODEL, max_tokens: 5, messages: [{ role: 'user', ...message }] },
    });
  const askParts = (...content: unknown[]) => ask({ content });

  for (const type of [
    ...['input_audio', 'video_url', 'audio_url', 'input_image', 'input_video', 'input_file', 'file', 'image'],
    ...['IMAGE_URL', 'Text', 'document', 'thinking', '', 'x'.repeat(3_000), '\u202e'],
  ])
    it(`with a part of type ${JSON.stringify(type.slice(0, 20))} is refused: 400, and the part is named`, async () => {
      const answer = await askParts({ type: 'text', text: 'a' }, { type, [type]: { url: INSIDE } });
      expectError(answer, 400, 'invalid_value', 'messages[0].content[1].type');
    });

  const fields: [title: string, message: object, param: string][] = [
    [
      'a file by its id',
      { content: [{ type: 'file', file: { file_id: 'file-1' } }] },
      'messages[0].content[0].type',
    ],
    [
      'an id of a file beside a URL',
      { content: [{ type: 'image_url', image_url: { url: PUBLIC, file_id: 'file-1' } }] },
      'messages[0].content[0].image_url.file_id',
    ],
    [
      'a picture in a part of text',
      { content: [{ type: 'text', text: 'a', image_url: { url: INSIDE } }] },
      'messages[0].content[0].image_url',
    ],
    [
      'the same in capitals',
      { content: [{ type: 'image_url', image_url: { url: PUBLIC }, IMAGE_URL: { url: INSIDE } }] },
      'messages[0].content[0].IMAGE_URL',
    ],
    [
      'a second URL',
      { content: [{ type: 'image_url', image_url: { url: PUBLIC, Url: INSIDE } }] },
      'messages[0].content[0].image_url.Url',
    ],
    [
      'a video deep within',
      { content: [{ type: 'text', text: 'a', source: [{ video: { uri: INSIDE } }] }] },
      'messages[0].content[0].source[0].video',
    ],
    ['sound beside the parts', { content: 'a', audio: { id: 'audio_1' } }, 'messages[0].audio'],
    ['pictures beside the parts', { content: 'a', images: [INSIDE] }, 'messages[0].images'],
    [
      'a picture without a URL',
      { content: [{ type: 'image_url', image_url: {} }] },
      'messages[0].content[0].image_url',
    ],
  ];
  for (const [title, message, param] of fields)
    it(`with ${title} is refused: 400, and the field is named`, async () => {
      expectError(await ask(message), 400, 'invalid_value', param);
    });

  for (const url of [
    INSIDE,
    'https://10.0.0.1/a.png',
    'https://example.com\\@10.0.0.1/a.png',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'gopher://a.com/',
  ])
    it(`with a picture at ${url} is refused: 400 url_not_allowed`, async () => {
      for (const image_url of [{ url }, url]) {
        const answer = await askParts({ type: 'image_url', image_url });
        expectError(answer, 400, 'url_not_allowed', 'messages[0].content[0].image_url.url');
      }
    });

  it('that is refused costs nothing', async () => {
    const { body } = await owner.key.get('/v1/balance');
    expect([body.data.balance, body.data.reserved]).to.deep.equal([1_000, 0]);
  });

  it('of text, refusals and pictures is passed on, with what clients add to it', async () => {
    const answer = await owner.key.post('/v1/chat/completions', {
      ...{ model: CHAT_MODEL, max_tokens: 5 },
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] },
        {
          ...{ role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }], audio: null, refusal: null },
          annotations: [{ type: 'url_citation', url_citation: { url: PUBLIC, title: 'a' } }],
        },
        {
          ...{ role: 'assistant', content: null },
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'open_url', arguments: '{"url":"x"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'https://127.0.0.1/ is a text' },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: PUBLIC, detail: 'low' } },
            { type: 'image_url', image_url: { url: PNG_DATA_URI } },
          ],
        },
      ],
    });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
  });
});
