// Create: the price while typing, more than there is before sending, one task for two clicks.
import { expect } from 'chai';
import { closeSound, type TestConsole } from '../../support/console/browser.ts';
import { order } from '../../support/console/orders.ts';
import { until } from '../../support/until.ts';
import { makeVideo } from '../../support/uploads.ts';
import type { TestUser } from '../../support/servers/gateway.ts';

/** A phone upright and on its side, a tablet, and a low window of a desktop. */
const WINDOWS = [
  { width: 390, height: 844 },
  { width: 844, height: 390 },
  { width: 820, height: 1180 },
  { width: 1400, height: 500 },
];
/** Pixels between the middle of the price and that of the button. */
const NEAR = 60;

export function testCreate(tested: () => TestConsole): void {
  describe('create', () => {
    it('shows the price as the order changes, and makes one task for two clicks', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser(100);
      const page = await open(user, 'create?model=gpt-image-2');
      await page.getByText('1K image × 1').waitFor();
      await page.getByRole('radio', { name: '2K' }).check();
      await page.getByText('2K image × 1').waitFor();
      await page.getByLabel('Prompt').fill('one of a kind');
      await page.getByRole('button', { name: 'Create', exact: true }).dblclick();
      await page.getByRole('heading', { name: 'one of a kind', exact: true }).waitFor();
      const { data } = (await user.session.get('/api/tasks')).body;
      expect(data.map((task: { creditsEstimate: number }) => task.creditsEstimate)).to.deep.equal([10]);
      await closeSound(page);
    });

    it('says before sending that an order is more than there is', async () => {
      const { gateway, open } = tested();
      const page = await open(await gateway.createUser(3), 'create?model=gpt-image-2');
      await page.getByLabel('Prompt').fill('too dear');
      await page.getByText('More than you have').waitFor();
      expect(await page.getByRole('button', { name: 'Create', exact: true }).isDisabled()).to.equal(true);
      await closeSound(page);
    });

    it('says what is missing when the API finds too little, and keeps the order', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser(10);
      const page = await open(user, 'create?model=gpt-image-2');
      await page.getByLabel('Prompt').fill('a moment too late');
      await page.getByText('1K image × 1').waitFor();
      await page.route('**/api/tasks', async (route) => {
        await order(user, 'faster [[sandbox seconds=30]]');
        await order(user, 'faster still [[sandbox seconds=30]]');
        await route.continue();
      });
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByText('This needs 4; you have 2 available.').waitFor();
      expect(await page.getByLabel('Prompt').inputValue()).to.equal('a moment too late');
      await closeSound(page);
    });

    it('keeps the draft over a reload and the end of the session, and for its user alone', async () => {
      const { gateway, open } = tested();
      const [user, other] = [await gateway.createUser(), await gateway.createUser()];
      const page = await open(user, 'create?model=veo-3.1-fast');
      await page.getByLabel('Prompt').fill('not to be lost');
      await page.getByRole('radio', { name: '1080p' }).check();
      await page.goto(`${gateway.baseUrl}/console/create`);
      const prompt = page.getByLabel('Prompt');
      await prompt.waitFor();
      expect(await prompt.inputValue()).to.equal('not to be lost');
      expect(await page.getByRole('radio', { name: '1080p' }).isChecked()).to.equal(true);
      const logIn = async ({ email, password }: typeof user): Promise<void> => {
        await gateway.em().execute('delete from session where user_id in (?, ?)', [user.id, other.id]);
        await page.reload();
        await page.getByLabel('E-mail address').fill(email);
        await page.getByLabel('Password').fill(password);
        await page.getByRole('button', { name: 'Log in' }).click();
        await prompt.waitFor();
      };
      await logIn(user);
      expect(await prompt.inputValue()).to.equal('not to be lost');
      await logIn(other);
      expect(await prompt.inputValue()).to.equal('');
      await closeSound(page);
    });

    it('takes the options that the model has, and hands them on', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const model = await findModel(user, ({ kind, limits }) => kind === 'video' && limits.options?.seed);
      const page = await open(user, `create?model=${model}`);
      await page.getByLabel('Prompt').fill('the same again');
      await page.getByLabel('Seed').fill('42');
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByRole('heading', { name: 'the same again', exact: true }).waitFor();
      const [task] = (await user.session.get('/api/tasks')).body.data;
      expect(task.requestPayload.metadata.seed).to.equal(42);
      await closeSound(page);
    });

    it('offers the uses of input images that their number permits, and orders each in its field', async () => {
      const { gateway, open } = tested();
      const page = await open(await gateway.createUser(1_000), 'create?model=grok-imagine-video-1.5');
      const usesOffered = () =>
        page.getByRole('group', { name: 'Use the images as' }).locator('label').allTextContents();
      const add = async (name: string): Promise<void> => {
        await page.getByLabel('https://…').fill(`https://example.com/${name}.png`);
        await page.getByRole('button', { name: 'Add', exact: true }).click();
      };
      const ordered = async (): Promise<unknown> => {
        const asked = page.waitForRequest(
          (request) => request.url().endsWith('/api/tasks') && request.method() === 'POST',
        );
        await page.getByRole('button', { name: 'Create', exact: true }).click();
        return (await asked).postDataJSON();
      };
      await page.route('**/api/tasks', (route) =>
        route.request().method() === 'POST' ? route.abort() : route.continue(),
      );
      await page.getByLabel('Prompt').fill('from one picture to another');
      await add('one');
      await page.getByRole('radio', { name: 'Last frame', exact: true }).check();
      expect(await usesOffered()).to.deep.equal(['First and last frame', 'Last frame', 'References']);
      expect(await ordered()).to.deep.nested.include({
        'metadata.last_frame': 'https://example.com/one.png',
      });
      await add('two');
      await page.getByRole('radio', { name: 'First frame, then references' }).check();
      expect(await usesOffered()).to.deep.equal([
        'First and last frame',
        'References',
        'First frame, then references',
      ]);
      expect(await page.getByRole('radio', { name: '1080p' }).isDisabled()).to.equal(true);
      expect(await ordered()).to.deep.nested.include({
        'metadata.first_frame': 'https://example.com/one.png',
        reference_images: ['https://example.com/two.png'],
      });
      await page.context().close();
    });

    it('uploads an input video, and orders with it', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const model = await findModel(user, ({ limits }) => (limits.inputVideosMax ?? 0) > 0);
      const page = await open(user, `create?model=${model}`);
      await page.getByLabel('Upload a video').setInputFiles({
        name: 'pier.mp4',
        mimeType: 'video/mp4',
        buffer: makeVideo(),
      });
      await page.getByText(/pier\.mp4 · /).waitFor();
      await page.getByLabel('Prompt').fill('as in the video');
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByRole('heading', { name: 'as in the video', exact: true }).waitFor();
      const [task] = (await user.session.get('/api/tasks')).body.data;
      expect(task.requestPayload.video_urls).to.have.length(1);
      await closeSound(page);
    });

    it('keeps what is typed and added while a video is uploaded', async () => {
      const { gateway, open } = tested();
      const user = await gateway.createUser();
      const model = await findModel(user, ({ limits }) => (limits.inputVideosMax ?? 0) > 1);
      const page = await open(user, `create?model=${model}`);
      const slow = Promise.withResolvers<void>();
      await page.route('**/api/uploads/videos', async (route) => {
        await slow.promise;
        await route.continue();
      });
      const buffer = makeVideo();
      await page
        .getByLabel('Upload a video')
        .setInputFiles({ name: 'pier.mp4', mimeType: 'video/mp4', buffer });
      await page.getByLabel('Prompt').fill('typed meanwhile');
      await page.getByLabel('https://…').last().fill('https://example.com/linked.mp4');
      await page.getByLabel('https://…').last().press('Enter');
      await page.getByText('linked.mp4').waitFor();
      slow.resolve();
      await page.getByText(/pier\.mp4 · /).waitFor();
      expect(await page.getByLabel('Prompt').inputValue()).to.equal('typed meanwhile');
      expect(await page.getByText('linked.mp4').count()).to.equal(1);
      await closeSound(page);
    });

    it('keeps the price beside the button, in view on phones and in low windows as well', async () => {
      const { gateway, open } = tested();
      const page = await open(await gateway.createUser(), 'create?model=gpt-image-2');
      await page.getByText('1K image × 1').waitFor();
      const price = page.getByText(/^4\s*credits$/);
      const button = page.getByRole('button', { name: 'Create', exact: true });
      for (const size of WINDOWS) {
        await page.setViewportSize(size);
        // What still comes above them moves both, perhaps between one look and the other.
        await until(`they are together in view at ${size.width} × ${size.height}`, async () => {
          const boxes = [await price.boundingBox(), await button.boundingBox()];
          const [one, other] = boxes.map((box) => box && { top: box.y, end: box.y + box.height });
          if (!one || !other) return false;
          const isInView = Math.min(one.top, other.top) >= 0 && Math.max(one.end, other.end) <= size.height;
          return isInView && Math.abs(one.top + one.end - other.top - other.end) / 2 <= NEAR;
        });
      }
      await closeSound(page);
    });

    it('takes a price that the list of models has read before', async () => {
      const { gateway, open } = tested();
      const page = await open(await gateway.createUser(), 'models');
      await page.getByText('What does it cost?').click();
      const cheapest = page.locator('.price-bar .number').first();
      const before = await cheapest.textContent();
      await page.getByLabel(/^Duration/).fill('5');
      await until('the prices are of 5 seconds', async () => (await cheapest.textContent()) !== before);
      await page.locator('.price-bar a').first().click();
      await page.getByRole('heading', { name: 'Price', exact: true }).waitFor();
      await page.locator('.lines > div').nth(2).waitFor();
      await closeSound(page);
    });

    it('offers only what goes together: 8 seconds alone in 1080p', async () => {
      const { gateway, open } = tested();
      const page = await open(await gateway.createUser(), 'create?model=veo-3.1-fast');
      await page.getByRole('radio', { name: '1080p' }).check();
      await page.getByText(/1080p video/).waitFor();
      const durations = page.getByRole('group', { name: 'Duration' }).getByRole('radio');
      expect(await durations.count()).to.equal(1);
      await closeSound(page);
    });
  });
}

interface FoundModel {
  id: string;
  kind: string;
  limits: { options?: { seed?: object }; inputVideosMax?: number };
}

/** The id of the first model of the catalogue that is so. */
async function findModel(user: TestUser, isSo: (model: FoundModel) => unknown): Promise<string> {
  const { data } = (await user.session.get('/api/models')).body;
  const found = (data as FoundModel[]).find(isSo);
  if (!found) throw new Error('the catalogue has no such model');
  return found.id;
}
