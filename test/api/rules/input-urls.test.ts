// URLs that callers order with: which are refused at once, whose uploads count, and what becomes of those
// found bad later.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { signUrl } from '../../../storage/signed-urls.ts';
import { expectNoEffect } from '../../support/http/effects.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { countSubmissions } from '../../support/servers/sandbox.ts';
import { IMAGE_MODEL, uniqueWord, VIDEO_MODEL } from '../../support/tasks.ts';
import { ageUpload, makeVideo, upload, UPLOADS } from '../../support/uploads.ts';
import { untilFinal } from '../../support/until.ts';

const MODEL = 'seedance-2.0-mini';
const INSIDE = [
  ...[
    'http://169.254.169.254/',
    'https://169.254.169.254/latest/meta-data/',
    'https://127.0.0.1/',
    'https://[::1]/',
  ],
  ...[
    'https://[::ffff:10.0.0.1]/',
    'https://127.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://①②⑦.⓪.⓪.①/',
  ],
  ...[
    'https://localhost/',
    'https://a.localhost/',
    'https://db.internal/',
    'https://printer.local/',
    'https://postgres/',
  ],
  ...[
    'https://example.com./',
    'https://user:password@example.com/',
    'https://example.com:8443/',
    'http://example.com/',
  ],
  ...[
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'java\nscript:alert(1)',
    'blob:https://example.com/a',
    'vbscript:x',
  ],
  // What URL reads as example.com, and another reader as something else.
  ...[
    'https://example.com\\@169.254.169.254/',
    'https://example.com\\.10.0.0.1/',
    'https:example.com/',
    'https:/\\example.com/',
    'https://exam\nple.com/',
    ' https://example.com/',
    'https://example.com/a\r\nx-injected: 1',
  ],
  ...['ftp://example.com/', 'file:///etc/passwd', `https://example.com/${'a'.repeat(2_048)}`],
];

describe('URLs in orders', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let stranger: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(1_000_000);
    stranger = await gateway.createUser(1_000_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const make = async (user = owner): Promise<{ id: string; url: string }> =>
    (await upload(user.key, makeVideo())).body.data;
  const order = (
    videoUrls: unknown[],
    { user = owner, model = MODEL, prompt = 'x [[sandbox seconds=0]]' } = {},
  ) => user.key.post('/v1/videos/generations', { model, prompt, video_urls: videoUrls });

  for (const [what, path, fields, name] of [
    ['an image', '/v1/images/generations', { model: IMAGE_MODEL }, 'image_urls'],
    ['an image', '/v1/images/generations', { model: IMAGE_MODEL }, 'reference_images'],
    ['a video', '/v1/videos/generations', { model: VIDEO_MODEL }, 'image_urls'],
    ['a video', '/v1/videos/generations', { model: MODEL }, 'video_urls'],
  ] as const)
    it(`in ${name} of ${what} lead nowhere inside: 400 url_not_allowed, and nothing happened`, async () => {
      for (const url of INSIDE) {
        const body = { ...fields, prompt: 'x', [name]: [url] };
        const answer = await expectNoEffect(gateway, () => owner.key.post(path, body));
        expectError(answer, 400, 'url_not_allowed', `${name}[0]`);
        expect(answer.body.error.message).to.include('must be https, with a public host name');
      }
      for (const text of ['x', '/relative', 'example.com/a.png', '//example.com/a.png']) {
        const answer = await owner.key.post(path, { ...fields, prompt: 'x', [name]: [text] });
        expectError(answer, 400, 'invalid_value', `${name}[0]`);
      }
    });

  describe('in video_urls', () => {
    it('may be one’s own uploads and public addresses; the vendor gets a link of its own', async () => {
      const { url } = await make();
      const word = uniqueWord();
      const { status, body } = await order([url, 'https://example.com/a.mp4'], {
        prompt: `${word} [[sandbox seconds=0]]`,
      });
      expect(status, JSON.stringify(body)).to.equal(202);
      expect(JSON.stringify(body.data.requestPayload)).not.to.include('signature=');
      const task = await untilFinal(owner.session, body.data.id);
      expect([task.status, task.errorMessage]).to.deep.equal(['completed', null]);
      expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(1);
    });

    it('are refused alike when they are somebody else’s, expired, deleted, forged or of another file', async () => {
      const { id, url } = await make();
      const { url: foreign } = await make(stranger);
      const expired = await make();
      await ageUpload(gateway, expired.id, 24);
      const deleted = await make();
      await owner.key.delete(`${UPLOADS}/${deleted.id}`);
      const keys = gateway.secrets.signingKeys();
      const sign = (path: string, expiresAt: Date) =>
        signUrl({ publicUrl: gateway.baseUrl, path, expiresAt, keys });
      const bad = [
        foreign,
        expired.url,
        deleted.url,
        url.replace(/signature=./, 'signature='),
        url.split('?')[0],
        url.replace('?', '?expires=1&'),
        url.replace('http://', 'http://user@'),
        sign(`/uploads/${id}.mp4`, new Date(Date.now() - 1_000)),
        sign('/results/task_00000000000000000000000000/1/0.mp4', new Date(Date.now() + 60_000)),
      ];
      for (const link of bad) {
        const answer = await expectNoEffect(gateway, () => order(['https://example.com/a.mp4', link]));
        expectError(answer, 400, 'url_not_allowed', 'video_urls[1]');
      }
    });

    it('are checked for a price too', async () => {
      const { url } = await make(stranger);
      const body = { mode: 'video', model: MODEL, prompt: 'x', video_urls: [url] };
      const refused = await owner.key.post('/v1/estimates', body);
      expectError(refused, 400, 'url_not_allowed', 'video_urls[0]');
      expect(refused.body.error.message).to.include('no upload of yours, or has expired');
      expect((await stranger.key.post('/v1/estimates', body)).status).to.equal(200);
    });

    it('are for models that take input videos', async () => {
      const { url } = await make();
      expectError(await order([url], { model: VIDEO_MODEL }), 400, 'invalid_value', 'video_urls');
      expectError(await order([url, url, url, url]), 400, 'invalid_value', 'video_urls');
    });

    it('stay as long as a task needs them: its link works although the upload has expired', async () => {
      const { id, url } = await make();
      const { body } = await order([url], { prompt: 'x [[sandbox outcome=stuck]]' });
      await ageUpload(gateway, id, 24);
      expectError(await owner.key.get(`${UPLOADS}/${id}`), 404, 'file_not_found');
      const [row] = await gateway.em().execute<{ count: number }[]>(sql`
        select count(*)::int as count from upload_use where task_id = ${body.data.id} and upload_id = ${id}`);
      expect(row?.count).to.equal(1);
      expect((await fetch(url)).status, 'the link of the upload').to.equal(200);
      await owner.session.delete(`/api/tasks/${body.data.id}`);
      await untilFinal(owner.session, body.data.id);
      expect((await fetch(url)).status, 'after the task').to.equal(404);
    });

    it('that are gone make a failed task one that cannot be retried', async () => {
      const { id, url } = await make();
      const { body } = await order([url], { prompt: 'x [[sandbox seconds=0 outcome=fail]]' });
      expect((await untilFinal(owner.session, body.data.id)).status).to.equal('failed');
      await owner.key.delete(`${UPLOADS}/${id}`);
      const refused = await owner.session.post(`/api/tasks/${body.data.id}/retry`);
      expectError(refused, 409, 'task_not_retryable');
      expect(refused.body.error.message).to.contain('uploaded video');
    });
  });

  it('that nobody can fetch end the task with url_not_allowed, uncharged, whatever the reason was', async () => {
    const { body } = await owner.key.post('/v1/images/generations', {
      model: IMAGE_MODEL,
      prompt: 'x [[sandbox seconds=0]]',
      image_urls: ['https://nobody.example.invalid/a.png'],
    });
    const task = await untilFinal(owner.session, body.id);
    expect([task.status, task.errorCode, task.creditsCharged]).to.deep.equal([
      'failed',
      'url_not_allowed',
      0,
    ]);
    expect(task.errorMessage).to.include('Input image 1 could not be fetched').and.not.include('example');
  });
});
