// OpenAI's own client finds in the sandbox what it expects of OpenAI.

import { expect } from 'chai';
import OpenAI, { toFile } from 'openai';
import { newPrompt, useSandbox } from '../support.ts';

describe("sandbox: OpenAI's own client", () => {
  const sandbox = useSandbox();

  function client(options: { apiKey?: string; maxRetries?: number } = {}): OpenAI {
    const { apiKey = 'sk-test', maxRetries = 0 } = options;
    return new OpenAI({ baseURL: `${sandbox().url}/openai/v1`, apiKey, maxRetries });
  }

  it('generates pictures', async () => {
    const answer = await client().images.generate({
      model: 'gpt-image-2',
      prompt: newPrompt('seconds=0').prompt,
      n: 2,
      size: '1248x832',
    });
    expect(answer.data).to.have.length(2);
    expect(answer.data?.[0]?.b64_json).to.match(/^iVBOR/);
    expect(answer.usage?.total_tokens).to.be.greaterThan(0);
    expect(answer._request_id).to.be.a('string');
  });

  it('edits several pictures', async () => {
    const image = await Promise.all(['one', 'two'].map((name) => toFile(Buffer.from(name), `${name}.png`)));
    const answer = await client().images.edit({
      model: 'gpt-image-2',
      prompt: newPrompt('seconds=0').prompt,
      image,
      input_fidelity: 'high',
    });
    expect(answer.usage?.input_tokens_details.image_tokens).to.equal(646);
    expect(answer.data).to.have.length(1);
  });

  it('edits one picture with a mask', async () => {
    const [image, mask] = await Promise.all(
      ['one', 'mask'].map((name) => toFile(Buffer.from(name), `${name}.png`)),
    );
    if (image === undefined || mask === undefined) throw new Error('There are two files.');
    const prompt = newPrompt('seconds=0').prompt;
    const answer = await client().images.edit({ model: 'gpt-image-1', prompt, image, mask, n: 1 });
    expect(answer.size).to.equal('1024x1024');
  });

  it('throws its own error classes', async () => {
    const generate = async (directives: string, apiKey = 'sk-test'): Promise<unknown> =>
      client({ apiKey })
        .images.generate({ model: 'gpt-image-2', prompt: newPrompt(`seconds=0 ${directives}`).prompt })
        .catch((error: unknown) => error);
    expect(await generate('', 'sk-invalid')).to.be.instanceOf(OpenAI.AuthenticationError);
    expect(await generate('submit=429')).to.be.instanceOf(OpenAI.RateLimitError);
    expect(await generate('submit=500')).to.be.instanceOf(OpenAI.InternalServerError);
    expect(await generate('submit=reset')).to.be.instanceOf(OpenAI.APIConnectionError);
    const moderated = await generate('outcome=moderated');
    expect(moderated).to.be.instanceOf(OpenAI.BadRequestError).with.property('code', 'moderation_blocked');
  });

  it('retries after a 503 as the sandbox asks it to', async () => {
    const prompt = newPrompt('seconds=0 submit=503*1').prompt;
    const answer = await client({ maxRetries: 1 }).images.generate({ model: 'gpt-image-2', prompt });
    expect(answer.data).to.have.length(1);
  });
});
