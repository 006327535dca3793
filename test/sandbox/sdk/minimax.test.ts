// MiniMax's own command line program brings a library, which finds in the sandbox what it expects. Its
// download is left out: it takes nothing without TLS.

import { join } from 'node:path';
import { expect } from 'chai';
import { newPrompt, readJobs, useSandbox, type Json } from '../support.ts';
import { installFromNpm } from './npm.ts';

const REQUIREMENT = 'mmx-cli@1.0.27';
const INSTALL_LIMIT_MS = 250_000;
const LINK = 'https://example.com/fox.png';
/** In seconds, as the library counts. */
const WAIT = { pollInterval: 0.05, timeout: 5 };

interface Library {
  MiniMaxSDK: new (options: { apiKey: string; baseUrl: string }) => {
    video: { generate(order: Json): Promise<Json> };
  };
}

describe('sandbox: the library of mmx-cli', () => {
  const sandbox = useSandbox();
  let library: Library;

  before(`installs ${REQUIREMENT}`, async function () {
    this.timeout(INSTALL_LIMIT_MS);
    const installed = await installFromNpm(REQUIREMENT);
    if (installed.kind === 'installed')
      library = await import(join(installed.folder, 'node_modules/mmx-cli/dist/sdk.mjs'));
    else {
      process.stderr.write(`skipped, since it cannot be installed: ${installed.why}\n`);
      this.skip();
    }
  });

  const generate = (order: Json): Promise<Json> => {
    const client = new library.MiniMaxSDK({ apiKey: 'sk-test', baseUrl: `${sandbox().url}/minimax` });
    return client.video.generate({ ...order, ...WAIT });
  };
  const refusalOf = (order: Json): Promise<string> =>
    generate(order).then(
      () => 'none',
      (error: unknown) => String(error),
    );

  it('makes a video with the first API', async () => {
    const { prompt, marker } = newPrompt('seconds=0');
    const order = { model: 'MiniMax-Hailuo-02', prompt, first_frame_image: LINK, last_frame_image: LINK };
    const task = await generate(order);
    expect(task).to.include({ status: 'Success' });
    expect(task['file_id']).to.be.a('string').that.is.not.empty;
    const [job] = await readJobs(sandbox(), marker);
    expect(job?.['ordered']).to.include({ model: 'MiniMax-Hailuo-02', inputImages: 2 });
  });

  it('makes a video with the second API', async () => {
    const { prompt, marker } = newPrompt('seconds=0');
    const content = [
      { type: 'text', text: prompt },
      { type: 'image_url', image_url: { url: LINK }, role: 'reference_image' },
    ];
    const task = await generate({ model: 'MiniMax-H3', content, duration: 4, ratio: '16:9' });
    expect(task).to.include({ status: 'succeeded', duration: 4, resolution: '2K' });
    expect(task['usage']).to.include({ total_seconds: 4 });
    const [job] = await readJobs(sandbox(), marker);
    expect(job?.['ordered']).to.include({ model: 'MiniMax-H3', inputImages: 1, ratio: '16:9' });
  });

  for (const [why, directives, expected] of [
    ['moderation', 'seconds=0 outcome=moderated', /sensitive|moderat|fail/i],
    ['too many requests', 'submit=429', /rate|limit|429|1002/i],
  ] as const)
    it(`tells of ${why}, in both`, async () => {
      const { prompt } = newPrompt(directives);
      expect(await refusalOf({ model: 'MiniMax-Hailuo-2.3', prompt })).to.match(expected);
      const content = [{ type: 'text', text: newPrompt(directives).prompt }];
      expect(await refusalOf({ model: 'MiniMax-H3', content, ratio: '16:9' })).to.match(expected);
    });
});
