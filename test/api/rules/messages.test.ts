// What a refusal says: what is wrong, and what would be right.
import { expect } from 'chai';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

const IMAGE = { model: 'gpt-image-2', prompt: 'a boat' };
const CHAT = { model: 'gpt-6-luna', messages: [{ role: 'user', content: 'hello' }] };
const RESPONSE = { model: 'gpt-6-luna', input: 'hello' };
const MIB = 1024 ** 2;

const REFUSALS: readonly [what: string, path: string, body: object, message: string][] = [
  [
    'a model that there is not',
    '/v1/chat/completions',
    { ...CHAT, model: 'gpt-9' },
    'There is no such model. GET /v1/models lists those there are.',
  ],
  [
    'a model for pictures in a chat',
    '/v1/chat/completions',
    { ...CHAT, model: 'gpt-image-2' },
    'gpt-image-2 is a model for image; this call takes models for text.',
  ],
  [
    'a model for videos where pictures are made',
    '/v1/images/generations',
    { ...IMAGE, model: 'grok-imagine-video' },
    'grok-imagine-video is a model for video; this call takes models for image.',
  ],
  [
    'an option that the model does not have',
    '/v1/images/generations',
    { ...IMAGE, metadata: { seed: 1 } },
    'metadata.seed: gpt-image-2 takes only resolution.',
  ],
  [
    'a body of more than its route takes',
    '/v1/chat/completions',
    { ...CHAT, user: 'x'.repeat(MIB) },
    'The request body may have at most 1 MiB.',
  ],
  [
    'an order of more than its route takes',
    '/v1/images/generations',
    { ...IMAGE, user: 'x'.repeat(32 * MIB) },
    'The request body may have at most 32 MiB.',
  ],
  [
    'a response that goes on from an earlier one',
    '/v1/responses',
    { ...RESPONSE, previous_response_id: 'resp_1' },
    'previous_response_id is not offered. Nothing is stored; send the whole conversation.',
  ],
  [
    'a tool that the vendor would run',
    '/v1/responses',
    { ...RESPONSE, tools: [{ type: 'web_search' }] },
    'tools[0].type: web_search is not offered.',
  ],
];

describe('the message of a refusal', () => {
  let gateway: TestGateway;
  let user: TestUser;

  before(async () => {
    gateway = await startGateway();
    user = await gateway.createUser();
  });
  after(() => gateway.stop());

  for (const [what, path, body, message] of REFUSALS)
    it(`says what would be right: ${what}`, async () => {
      expect((await user.key.post(path, body)).body.error).to.include({ message });
    });
});
