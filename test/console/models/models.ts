// Models: each is told from the next by its whole name, whatever the width.
import { expect } from 'chai';
import { closeSound, type TestConsole } from '../../support/console/browser.ts';

const WIDTHS = [1280, 820, 390];

export function testModels(tested: () => TestConsole): void {
  describe('models', () => {
    for (const width of WIDTHS)
      it(`show their whole names at ${width} pixels`, async () => {
        const { gateway, open } = tested();
        const page = await open(await gateway.createUser(), 'models', { width });
        const names = page.locator('.model-card h2 .cut');
        await names.getByText('grok-imagine-video-1.5-lite', { exact: true }).waitFor();
        const cut = await names.evaluateAll((all) =>
          all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent),
        );
        expect(cut).to.deep.equal([]);
        await closeSound(page);
      });
  });
}
