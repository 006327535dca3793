// The workflows as Temporal's sandbox gets them: the bundle builds, so nothing impure is imported.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import * as workflows from '../../workflows/index.ts';
import { bundleWorkflows } from '../../worker/workers.ts';

describe('the workflow bundle', () => {
  it('holds exactly the workflows deliverWebhook, generate and sweep', () => {
    expect(Object.keys(workflows).sort()).to.deep.equal(['deliverWebhook', 'generate', 'sweep']);
  });

  /** Paths of the project's own modules in the bundle. */
  async function readOwnModules(): Promise<string[]> {
    const bundle = await bundleWorkflows();
    if (!('code' in bundle)) throw new Error('the bundle is a file, not code');
    const modules = [...bundle.code.matchAll(/^\/\*\*\*\/ "\.\/([^"]+)"/gm)].map(([, path]) => path ?? '');
    return modules.filter((path) => !path.includes('node_modules'));
  }

  it('builds, without Node’s modules, drivers or vendors in it', async () => {
    const ours = await readOwnModules();
    expect(ours).to.include('workflows/generate.ts');
    for (const path of ours) expect(path).to.match(/^(workflows|domain)\//);
  });

  it('has no module with a state of its own, since all runs share their modules', async () => {
    const variable = /^(export )?(let|var) /m;
    const emptyCollection =
      /^(export )?const [^\n]*= (new (Map|Set|WeakMap|WeakSet)\b[^\n]*\(\)|\[\]|\{\});/m;
    for (const path of await readOwnModules()) {
      const source = readFileSync(path, 'utf8');
      expect(source, path).to.not.match(variable);
      expect(source, path).to.not.match(emptyCollection);
    }
  });
});
