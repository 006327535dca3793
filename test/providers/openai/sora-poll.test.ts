// OpenAI’s Videos API: how resellers’ answers to a poll read, and where the bytes are.
import { expect } from 'chai';
import { fetchResult } from '../../../providers/http/fetch-result.ts';
import { sendJson } from '../stand-in.ts';
import { describeSora } from './sora-support.ts';

describeSora((vendor) => {
  describe('poll', () => {
    async function poll(json: unknown, id = 'video_1') {
      vendor.play = (res) => sendJson(res, 200, json);
      return vendor.provider.poll?.({ id, credential: 'second' });
    }

    it('is asked with the credential that handed it over, and its id is one path segment', async () => {
      await poll({ status: 'queued' }, 'a/b');
      const [{ path, headers } = { path: '', headers: undefined }] = vendor.received;
      expect([path, headers?.authorization]).to.deep.equal(['/v1/videos/a%2Fb', 'Bearer sk-second']);
    });

    const words: Record<string, string> = {
      queued: 'queued pending submitted not_start preparing created Queued NOT_START',
      running: 'in_progress processing running generating simmering IN_PROGRESS',
      succeeded: 'completed complete success succeeded finished SUCCESS',
      failed: 'failed failure fail error FAILURE',
      cancelled: 'cancelled canceled',
      expired: 'expired',
    };
    for (const [kind, list] of Object.entries(words))
      it(`reads ${list} as ${kind}`, async () => {
        for (const status of list.split(' ')) expect(await poll({ status }), status).to.include({ kind });
      });

    it('reads no status, no object and an error without a status as running', async () => {
      for (const json of [{}, [], null, { error: { message: 'try again', code: 'oops' } }])
        expect(await poll(json)).to.deep.equal({ kind: 'running', progress: null });
      expect(await poll({ status: 'in_progress', progress: 40 })).to.include({ progress: 40 });
      expect(await poll({ status: 'in_progress', progress: '40%' })).to.include({ progress: null });
    });

    const links: [title: string, fields: object, url: string][] = [
      ['nowhere', {}, '/v1/videos/video_1/content'],
      ['in metadata', { metadata: { url: 'https://cdn.example/a.mp4' } }, 'https://cdn.example/a.mp4'],
      ['as video_url', { video_url: 'https://cdn.example/b.mp4' }, 'https://cdn.example/b.mp4'],
      ['as url', { url: 'https://cdn.example/c.mp4' }, 'https://cdn.example/c.mp4'],
      ['as a path', { url: '/v1/files/d.mp4' }, '/v1/files/d.mp4'],
      ['nowhere, with empty texts', { url: '', video_url: '', metadata: null }, '/v1/videos/video_1/content'],
    ];
    for (const [title, fields, url] of links)
      it(`finds the link ${title}`, async () => {
        const results = [{ kind: 'guarded_url', url: new URL(url, vendor.url).href }];
        expect(await poll({ status: 'completed', ...fields })).to.deep.include({ results });
      });

    for (const [seconds, evidence] of [
      ['8', { seconds: 8 }],
      [8, { seconds: 8 }],
      ...['0', '-8', 'eight', '9000000000000', 0, -1, null, {}].map((nonsense) => [nonsense, {}] as const),
    ] as const)
      it(`reads ${JSON.stringify(seconds)} seconds as ${JSON.stringify(evidence)}`, async () => {
        expect(await poll({ status: 'completed', seconds })).to.deep.include({ evidence });
      });

    const failures: [error: unknown, errorClass: string, text: string | null][] = [
      [{ code: 'moderation_blocked', message: 'Blocked.' }, 'moderation', 'Blocked.'],
      [{ code: 'sentinel_block', message: 'Blocked.' }, 'moderation', 'Blocked.'],
      [
        { code: 'x', message: 'Blocked by our moderation system.' },
        'moderation',
        'Blocked by our moderation system.',
      ],
      [{ code: 'insufficient_quota', message: 'm' }, 'quota', 'm'],
      [{ code: 'rate_limit_exceeded', message: 'm' }, 'rate', 'm'],
      [{ code: 'invalid_reference', message: 'm' }, 'invalid', 'm'],
      [{ code: 'internal_error', message: 'm' }, 'transient', 'm'],
      ['a text alone', 'transient', 'a text alone'],
      [null, 'transient', null],
    ];
    for (const [error, errorClass, text] of failures)
      it(`reads failure by ${JSON.stringify(error)} as ${errorClass}`, async () => {
        expect(await poll({ status: 'failed', error })).to.deep.equal({ kind: 'failed', errorClass, text });
      });
  });

  it('is downloaded with the key of the credential that made it', async () => {
    vendor.play = (res) => void res.end('bytes');
    const handle = { id: 'video_1', credential: 'second' };
    const url = `${vendor.url}/v1/videos/video_1/content`;
    const { stream } = await fetchResult(
      vendor.provider,
      { kind: 'guarded_url', url },
      { handle, bytesMax: 100 },
    );
    stream.destroy();
    expect(vendor.received[0]?.headers.authorization).to.equal('Bearer sk-second');
    expect(vendor.provider.trustsOrigin(new URL('https://cdn.example/a.mp4'))).to.equal(false);
  });
});
