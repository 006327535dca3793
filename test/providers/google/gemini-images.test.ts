// Gemini images: what is asked for, how many calls several pictures take, which pictures count, and what
// refusals mean.
import { expect } from 'chai';
import { createGeminiImages } from '../../../providers/google/gemini-images.ts';
import type { Provider, Submission, UpstreamJob } from '../../../providers/provider.ts';
import {
  failureOf,
  imageJob,
  PNG,
  sendJson,
  startStandIn,
  verdictOf,
  type Play,
  type StandIn,
} from '../stand-in.ts';

const DATA = PNG.toString('base64');
const PICTURE = { inlineData: { mimeType: 'image/png', data: DATA } };
const MODEL = 'gemini-nano-banana-2.1';

describe('Gemini images', () => {
  let standIn: StandIn;
  let provider: Provider;
  let plays: Play[] = [];

  before(async () => {
    standIn = await startStandIn((res, req) => {
      const play = plays.length > 1 ? plays.shift() : plays[0];
      play?.(res, req);
    });
    provider = createGeminiImages({
      baseUrl: `${standIn.url}/v1beta`,
      credentials: [{ id: 'default', key: 'AIza-first' }],
      upstreamTimeoutMs: 2_000,
    });
  });
  after(() => standIn.close());
  beforeEach(() => {
    standIn.received.length = 0;
  });

  const answering = (json: unknown, status = 200): Play => {
    return (res) => sendJson(res, status, json);
  };
  const withParts = (...parts: unknown[]): Play =>
    answering({
      candidates: [{ content: { parts, role: 'model' }, finishReason: 'STOP', index: 0 }],
      responseId: 'resp-1',
    });
  const refusing = (status: number, word: string, message: string, details?: object[]): Play =>
    answering({ error: { code: status, message, status: word, details } }, status);

  const order = (images: number, changes: Partial<UpstreamJob> = {}): UpstreamJob =>
    imageJob({ upstreamModel: MODEL, images, ...changes });

  async function finished(job: UpstreamJob): Promise<Extract<Submission, { kind: 'finished' }>> {
    const submission = await provider.submit(job);
    if (submission.kind !== 'finished') throw new Error(`submission is ${submission.kind}`);
    return submission;
  }

  const bodies = (): unknown[] => standIn.received.map(({ body }) => JSON.parse(String(body)));

  describe('submit', () => {
    it('gets concrete values, with the size in capitals', async () => {
      plays = [withParts(PICTURE)];
      const fields = { ...imageJob().order, resolution: '4K', ratio: '21:9' };
      await provider.submit(imageJob({ upstreamModel: MODEL, order: fields }));
      const { method, path, headers } = standIn.received.at(-1) ?? {};
      expect([method, path]).to.deep.equal(['POST', `/v1beta/models/${MODEL}:generateContent`]);
      expect(headers?.['x-goog-api-key']).to.equal('AIza-first');
      expect(bodies()).to.deep.equal([
        {
          contents: [{ role: 'user', parts: [{ text: 'a cat' }] }],
          generationConfig: {
            responseModalities: ['IMAGE'],
            imageConfig: { aspectRatio: '21:9', imageSize: '4K' },
          },
        },
      ]);
    });

    it('gets input images inline, with their true type', async () => {
      plays = [withParts(PICTURE)];
      await provider.submit(order(1, { inputImages: [`data:image/jpeg;base64,${DATA}`] }));
      expect(bodies()).to.have.deep.nested.property('[0].contents[0].parts', [{ text: 'a cat' }, PICTURE]);
    });

    it('refuses input images from inside, before the vendor hears of it', async () => {
      const job = order(1, { inputImages: ['https://169.254.169.254/latest/meta-data/'] });
      expect(verdictOf(await failureOf(provider.submit(job)))).to.equal('input_refused, refused');
      expect(standIn.received).to.have.length(0);
    });

    it('takes one call for each picture, all alike', async () => {
      plays = [withParts(PICTURE)];
      const { results, evidence, upstreamRequestId } = await finished(order(4));
      expect(results).to.deep.equal(Array.from({ length: 4 }, () => ({ kind: 'inline', bytes: PNG })));
      expect([evidence, upstreamRequestId]).to.deep.equal([{ images: 4 }, 'resp-1']);
      expect(bodies()).to.have.length(4);
      expect(new Set(bodies().map((body) => JSON.stringify(body))).size).to.equal(1);
    });
  });

  describe('answering', () => {
    it('skips drafts, words and what is no picture', async () => {
      const draft = Buffer.from('a draft').toString('base64');
      plays = [
        withParts(
          { text: 'First …', thought: true },
          { ...PICTURE, inlineData: { mimeType: 'image/png', data: draft }, thought: true },
          { text: 'Here it is.' },
          { inlineData: { mimeType: 'image/png', data: draft } },
          PICTURE,
          PICTURE,
        ),
      ];
      expect((await finished(order(1))).results).to.deep.equal([{ kind: 'inline', bytes: PNG }]);
    });

    it('with drafts alone makes no sense', async () => {
      plays = [withParts({ ...PICTURE, thought: true })];
      expect(verdictOf(await failureOf(provider.submit(order(1))))).to.equal('invalid_response, refused');
    });

    for (const json of [{}, [], null, 'x', { candidates: [] }, { candidates: [{ content: {} }] }])
      it(`has no picture in ${JSON.stringify(json)}`, async () => {
        plays = [answering(json)];
        expect(verdictOf(await failureOf(provider.submit(order(1))))).to.equal('invalid_response, refused');
      });

    for (const reason of ['SAFETY', 'IMAGE_SAFETY', 'PROHIBITED_CONTENT', 'RECITATION'])
      it(`with ${reason} and status 200 is moderation`, async () => {
        plays = [answering({ candidates: [{ finishReason: reason, finishMessage: 'It is not allowed.' }] })];
        const failure = await failureOf(provider.submit(order(1)));
        expect([verdictOf(failure), failure.text]).to.deep.equal([
          'moderation, refused',
          'It is not allowed.',
        ]);
      });

    it('to a prompt that is blocked is moderation', async () => {
      plays = [answering({ promptFeedback: { blockReason: 'OTHER' } })];
      const failure = await failureOf(provider.submit(order(1)));
      expect([verdictOf(failure), failure.text]).to.deep.equal(['moderation, refused', 'OTHER']);
    });

    it('with NO_IMAGE says nothing against the content', async () => {
      plays = [answering({ candidates: [{ finishReason: 'NO_IMAGE' }] })];
      expect(verdictOf(await failureOf(provider.submit(order(1))))).to.equal('invalid_response, refused');
    });
  });

  const rate = refusing(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).');
  const blocked = answering({ candidates: [{ finishReason: 'IMAGE_SAFETY' }] });
  const cut: Play = (res) => res.destroy();

  describe('in several calls', () => {
    for (const [title, trouble] of [
      ['is refused', blocked],
      ['is one too many', rate],
      ['is lost', cut],
    ] as const)
      it(`delivers and counts the others when one ${title}`, async () => {
        plays = [withParts(PICTURE), trouble, withParts(PICTURE)];
        const { results, evidence } = await finished(order(3));
        expect([results.length, evidence]).to.deep.equal([2, { images: 2 }]);
      });

    const fates: [title: string, plays: Play[], verdict: string][] = [
      ['none was received', [rate, rate], 'rate, not_received'],
      ['one was refused', [rate, blocked], 'moderation, refused'],
      ['one was lost', [rate, cut, blocked], 'transient, unknown'],
    ];
    for (const [title, several, verdict] of fates)
      it(`is ${verdict} when nothing came and ${title}`, async () => {
        plays = [...several];
        expect(verdictOf(await failureOf(provider.submit(order(several.length))))).to.equal(verdict);
      });

    it('closes every connection when the caller aborts, and delivers nothing', async () => {
      const controller = new AbortController();
      const closed = new Promise((resolve) => {
        plays = [withParts(PICTURE), (res) => void res.once('close', resolve)];
      });
      const failing = failureOf(provider.submit(order(2), controller.signal));
      while (standIn.received.length < 2) await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      expect(verdictOf(await failing)).to.equal('transient, unknown');
      await closed;
    });
  });

  const refusals: [status: number, word: string, message: string, verdict: string][] = [
    [400, 'INVALID_ARGUMENT', 'aspectRatio must be one of …', 'invalid, refused'],
    [400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', 'auth, not_received'],
    [400, 'INVALID_ARGUMENT', 'API key expired. Please renew the API key.', 'auth, not_received'],
    [400, 'FAILED_PRECONDITION', 'Please enable billing on project …', 'quota, not_received'],
    [403, 'PERMISSION_DENIED', 'The caller does not have permission.', 'auth, not_received'],
    [404, 'NOT_FOUND', 'models/x is no longer available.', 'model_retired, refused'],
    [429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', 'rate, not_received'],
    [429, 'RESOURCE_EXHAUSTED', 'Your project has exceeded its spending cap.', 'quota, not_received'],
    [429, 'RESOURCE_EXHAUSTED', 'Your prepayment credits are depleted.', 'quota, not_received'],
    [499, 'CANCELLED', 'The operation was cancelled.', 'transient, refused'],
    [500, 'INTERNAL', 'An internal error has occurred.', 'transient, refused'],
    [503, 'UNAVAILABLE', 'The model is overloaded.', 'transient, not_received'],
    [504, 'DEADLINE_EXCEEDED', 'Deadline expired.', 'transient, unknown'],
  ];
  describe('submit, refused', () => {
    for (const [status, word, message, verdict] of refusals)
      it(`with ${status} ${word} “${message}” is ${verdict}`, async () => {
        plays = [refusing(status, word, message)];
        const failure = await failureOf(provider.submit(order(1)));
        expect([verdictOf(failure), failure.text]).to.deep.equal([verdict, message]);
      });

    it('tells in the body how long to wait', async () => {
      const type = 'type.googleapis.com/google.rpc.RetryInfo';
      plays = [refusing(429, 'RESOURCE_EXHAUSTED', 'm', [{ '@type': type, retryDelay: '34.5s' }])];
      expect((await failureOf(provider.submit(order(1)))).retryAfterMs).to.equal(34_500);
    });
  });

  it('name no request where the vendor’s id is none to write down', async () => {
    for (const responseId of ['x'.repeat(100_000), 'two words', 'line\nline', 7]) {
      plays = [answering({ candidates: [{ content: { parts: [PICTURE] } }], responseId })];
      expect((await finished(order(1))).upstreamRequestId).to.equal(null);
    }
  });
});
