// Grok videos: how every answer to a poll reads.
import { expect } from 'chai';
import { createGrokVideo } from '../../../providers/grok/video.ts';
import { describeVendor } from '../describe-vendor.ts';
import { failureOf, sendJson, verdictOf } from '../stand-in.ts';

const URL_OF_VIDEO = 'https://vidgen.example/video.mp4';

describeVendor('Grok videos', { create: createGrokVideo, path: '/v1' }, (vendor) => {
  async function poll(status: number, json: unknown, credential = 'default') {
    vendor.play = (res) => (json === undefined ? res.writeHead(status).end() : sendJson(res, status, json));
    return vendor.provider.poll?.({ id: 'a/b', credential });
  }

  describe('poll', () => {
    it('is asked with the credential that handed it over, and its id is one path segment', async () => {
      await poll(202, undefined, 'second');
      const { path, headers } = vendor.received.at(-1) ?? {};
      expect([path, headers?.authorization]).to.deep.equal(['/v1/videos/a%2Fb', 'Bearer sk-second']);
    });

    it('is auth, not_received when that credential is gone', async () => {
      expect(verdictOf(await failureOf(poll(202, undefined, 'third')))).to.equal('auth, not_received');
    });

    const running: [string, number, unknown, number | null][] = [
      ['an empty 202', 202, undefined, null],
      ['pending', 202, { status: 'pending', progress: 40 }, 40],
      ['an unknown word', 200, { status: 'simmering', progress: 7 }, 7],
      ['absurd progress', 202, { status: 'pending', progress: 250 }, 250],
      ['progress as text', 202, { status: 'pending', progress: '40' }, null],
      ['no object at all', 200, [], null],
    ];
    for (const [title, status, json, progress] of running) {
      it(`reads ${title} as running`, async () => {
        expect(await poll(status, json)).to.deep.equal({ kind: 'running', progress });
      });
    }

    function done(video: Record<string, unknown>, usage?: Record<string, unknown>): unknown {
      return {
        status: 'done',
        progress: 100,
        model: 'grok-imagine-video',
        video,
        ...(usage ? { usage } : {}),
      };
    }

    it('reads done with its evidence: 2,500,000,000 ticks are 0.25 USD, which are 50 credits', async () => {
      const video = { url: URL_OF_VIDEO, duration: 5, respect_moderation: true };
      expect(await poll(200, done(video, { cost_in_usd_ticks: 2_500_000_000 }))).to.deep.equal({
        kind: 'succeeded',
        results: [{ kind: 'url', url: URL_OF_VIDEO }],
        evidence: { seconds: 5, vendorCost: 50_000_000n },
      });
    });

    it('rounds the vendor’s cost up', async () => {
      const state = await poll(200, done({ url: URL_OF_VIDEO }, { cost_in_usd_ticks: 51 }));
      expect(state).to.deep.include({ evidence: { vendorCost: 2n } });
    });

    for (const nonsense of [-1, 0.5, 9e18, 'plenty', null, [], {}]) {
      it(`leaves out evidence such as ${JSON.stringify(nonsense)}`, async () => {
        const duration = nonsense === 0.5 ? 0 : nonsense;
        const state = await poll(200, done({ url: URL_OF_VIDEO, duration }, { cost_in_usd_ticks: nonsense }));
        expect(state).to.deep.include({ kind: 'succeeded', evidence: {} });
      });
    }

    it('reads done without permission or with an empty URL as moderation, with what it costs us', async () => {
      for (const video of [
        { url: URL_OF_VIDEO, respect_moderation: false },
        { url: '', respect_moderation: true },
      ]) {
        const failed = { kind: 'failed', errorClass: 'moderation', text: null };
        expect(await poll(200, done(video))).to.deep.equal({ ...failed, evidence: {} });
        expect(await poll(200, done(video, { cost_in_usd_ticks: 2_500_000_000 }))).to.deep.equal({
          ...failed,
          evidence: { vendorCost: 50_000_000n },
        });
      }
    });

    it('reads done without any video as an answer that makes no sense', async () => {
      expect(await poll(200, { status: 'done' })).to.deep.equal({
        kind: 'failed',
        errorClass: 'invalid_response',
        text: null,
      });
    });

    const failures: [string, Record<string, unknown>, string][] = [
      ['invalid_argument', { error: { code: 'invalid_argument', message: 'm' } }, 'invalid'],
      ['failed_precondition', { error: { code: 'failed_precondition', message: 'm' } }, 'invalid'],
      ['permission_denied', { error: { code: 'permission_denied', message: 'm' } }, 'auth'],
      ['service_unavailable', { error: { code: 'service_unavailable', message: 'm' } }, 'transient'],
      ['internal_error', { error: { code: 'internal_error', message: 'm' } }, 'transient'],
      ['an unknown code', { error: { code: 'brand_new', message: 'm' } }, 'transient'],
      [
        'want of money',
        { error: { code: 'failed_precondition', message: 'The team has no credits left.' } },
        'quota',
      ],
      [
        'a block reason',
        { error: { code: 'permission_denied', message: 'm' }, block_reason: 'nudity' },
        'moderation',
      ],
      [
        'a usage guideline',
        { error: { code: 'invalid_argument', message: 'Violates usage guidelines.' } },
        'moderation',
      ],
    ];
    for (const [title, body, errorClass] of failures) {
      it(`reads failure by ${title} as ${errorClass}`, async () => {
        expect(await poll(200, { status: 'failed', ...body })).to.include({ kind: 'failed', errorClass });
      });
    }

    it('reads failure without an error as the vendor’s own trouble', async () => {
      expect(await poll(200, { status: 'failed' })).to.deep.equal({
        kind: 'failed',
        errorClass: 'transient',
        text: null,
      });
    });

    it('reads an error without a status as failure', async () => {
      const body = {
        code: 'Client specified an invalid argument',
        error: 'Generated video rejected by content moderation.',
      };
      const rejected = { kind: 'failed', errorClass: 'moderation', text: body.error };
      expect(await poll(200, body)).to.deep.equal(rejected);
      expect(await poll(400, body)).to.deep.equal(rejected);
    });

    it('reads expired', async () => {
      expect(await poll(200, { status: 'expired' })).to.deep.equal({ kind: 'expired' });
    });

    it('is expired, refused for a 404, which the caller judges by the age of the job', async () => {
      expect(verdictOf(await failureOf(poll(404, { error: 'not found' })))).to.equal('expired, refused');
    });

    it('throws what says nothing about the job', async () => {
      expect(verdictOf(await failureOf(poll(500, { error: 'x' })))).to.equal('transient, unknown');
      expect(verdictOf(await failureOf(poll(429, { error: 'x' })))).to.equal('rate, not_received');
      vendor.play = (res) => res.end('<html></html>');
      const failure = await failureOf(
        Promise.resolve(vendor.provider.poll?.({ id: 'x', credential: 'default' })),
      );
      expect(verdictOf(failure)).to.equal('invalid_response, unknown');
    });
  });
});
