// Google's own client finds in the sandbox's Gemini Omni what it expects of Google.

import { GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import { newPrompt, readJobs, readJournal, useSandbox } from '../support.ts';

const MODEL = 'gemini-omni-1.1-flash';
const IMAGE = { type: 'image', data: 'iVBORw0KGgo=', mime_type: 'image/png' } as const;

describe("sandbox: Gemini Omni with Google's own client", () => {
  const sandbox = useSandbox();
  const interactions = () => {
    const httpOptions = { baseUrl: `${sandbox().url}/google` };
    return new GoogleGenAI({ apiKey: 'AIza-test', httpOptions }).interactions;
  };
  const order = (directives: string, format: object = {}) => ({
    model: MODEL,
    input: newPrompt(directives).prompt,
    background: true,
    response_format: { type: 'video', ...format } as const,
  });

  it('makes a video in the background, and has it in the answer with its tokens', async () => {
    const { prompt, marker } = newPrompt('seconds=0');
    const { id, status } = await interactions().create({
      model: MODEL,
      input: [IMAGE, { type: 'text', text: prompt }],
      background: true,
      generation_config: { video_config: { task: 'image_to_video' } },
      response_format: { type: 'video', duration: '8s', resolution: '1080p', aspect_ratio: '9:16' },
    });
    expect(status).to.equal('in_progress');
    const { output_video: video, usage, status: end } = await interactions().get(id);
    expect(end).to.equal('completed');
    expect(
      Buffer.from(video?.data ?? '', 'base64')
        .subarray(4, 8)
        .toString(),
    ).to.equal('ftyp');
    expect(usage?.total_output_tokens).to.equal(8 * 8_688);
    const [job] = await readJobs(sandbox(), marker);
    expect(job?.['ordered']).to.include({ seconds: 8, resolution: '1080p', inputImages: 1 });
    const operations = (await readJournal(sandbox(), marker)).map(({ operation: word }) => word);
    expect(operations).to.eql(['submit', 'poll']);
  });

  it('takes a text alone, with the vendor’s own choices', async () => {
    const { prompt, marker } = newPrompt('seconds=0');
    await interactions().create({ model: MODEL, input: prompt, background: true });
    const [job] = await readJobs(sandbox(), marker);
    const choices = { seconds: 10, resolution: '720p', aspectRatio: '16:9' };
    expect(job?.['ordered']).to.deep.include(choices);
  });

  it('cancels what is under way, and only that', async () => {
    const { id } = await interactions().create(order('seconds=60'));
    expect((await interactions().cancel(id)).status).to.equal('cancelled');
    expect((await interactions().get(id)).status).to.equal('cancelled');
    expect(await failureOf(interactions().cancel(id))).to.have.property('status', 400);
  });

  it('refuses other lengths, pictures and models', async () => {
    for (const duration of ['2s', '11s', '8', '8.5m'])
      expect(await failureOf(interactions().create(order('', { duration }))), duration).to.include({
        status: 400,
      });
    const references = { video_config: { task: 'reference_to_video' } };
    const without = interactions().create({ ...order(''), generation_config: references });
    expect(await failureOf(without)).to.include({ status: 400 });
    const unknown = interactions().create({ ...order(''), model: 'gemini-omni-9' });
    expect(await failureOf(unknown)).to.include({ status: 404 });
  });

  it('reports failures, and withholds a filtered video', async () => {
    const failed = await interactions().create(order('seconds=0 outcome=fail'));
    expect((await interactions().get(failed.id)).status).to.equal('failed');
    const filtered = await interactions().create(order('seconds=0 outcome=moderated'));
    const { status, output_video: video, output_text: text } = await interactions().get(filtered.id);
    expect([status, video]).to.deep.equal(['completed', undefined]);
    expect(text).to.include('Responsible AI');
  });
});

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'it was answered',
    (error: unknown) => error,
  );
}
