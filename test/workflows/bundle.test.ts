// The workflows as Temporal's sandbox gets them: the bundle builds, so nothing impure is imported.
import { expect } from 'chai';
import * as workflows from '../../workflows/index.ts';
import { bundleWorkflows } from '../../worker/workers.ts';

describe('the workflow bundle', () => {
  it('holds exactly the workflows deliverWebhook, generate and sweep', () => {
    expect(Object.keys(workflows).sort()).to.deep.equal(['deliverWebhook', 'generate', 'sweep']);
  });

  it('builds, without Node’s modules, drivers or vendors in it', async () => {
    const bundle = await bundleWorkflows();
    if (!('code' in bundle)) throw new Error('the bundle is a file, not code');
    const modules = [...bundle.code.matchAll(/^\/\*\*\*\/ "\.\/([^"]+)"/gm)].map(([, path]) => path ?? '');
    const ours = modules.filter((path) => !path.includes('node_modules'));
    expect(ours).to.include('workflows/generate.ts');
    for (const path of ours) expect(path).to.match(/^(workflows|domain)\//);
  });
});
