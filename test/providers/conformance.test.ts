// Every adapter against the sandbox's vendor: one table of misfortunes, and what each family makes of it.
import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { startSandbox, type Sandbox } from '../../dev/sandbox/server.ts';
import { sniffMediaType } from '../../domain/media-types.ts';
import { fetchResult } from '../../providers/fetch-result.ts';
import {
  UpstreamFailure,
  type Provider,
  type UpstreamJob,
  type UpstreamResult,
} from '../../providers/provider.ts';
import { createProviders } from '../../providers/registry.ts';
import { imageJob, videoJob, verdictOf } from './stand-in.ts';

const RESULT_BYTES_MAX = 2_000_000;
const POLLS_MAX = 5_000;

/** What became of a job, in one line; progress as the vendor told it. */
interface Story {
  ending: string;
  progress: (number | null)[];
  evidence: unknown;
}

interface Family {
  adapter: string;
  family: string;
  path: string;
  job: UpstreamJob;
  /** How each directive ends. */
  endings: Record<string, string>;
}

/** The same for every family: the answer to the submission alone decides. */
const SUBMISSIONS: Record<string, string> = {
  'submit=400': 'invalid, refused',
  'submit=401': 'auth, not_received',
  'submit=402': 'quota, not_received',
  'submit=403': 'auth, not_received',
  'submit=429': 'rate, not_received',
  'submit=503': 'transient, not_received',
  'submit=reset': 'transient, unknown',
  'submit=accept_then_reset': 'transient, unknown',
  'submit=no_id': 'invalid_response, unknown',
  'submit=html': 'invalid_response, unknown',
  'submit=truncated': 'transient, unknown',
  'submit=hang': 'transient, unknown',
  'no_such_directive=1': 'invalid, refused',
};

const FAMILIES: Family[] = [
  {
    adapter: 'openai-images',
    family: 'openai',
    path: '/openai/v1',
    job: imageJob({ images: 2 }),
    endings: {
      '': 'image/png, image/png',
      'submit=500': 'transient, refused',
      'submit=no_id': 'invalid_response, refused',
      'outcome=fail reason=internal': 'transient, refused',
      'outcome=fail reason=invalid': 'invalid, refused',
      'outcome=fail reason=quota': 'quota, not_received',
      'outcome=fail reason=concurrency': 'rate, not_received',
      'outcome=fail reason=moderation': 'moderation, refused',
      'outcome=moderated': 'moderation, refused',
      'deliver=1': 'image/png',
      'deliver=3': 'image/png, image/png',
      'deliver=0': 'invalid_response, refused',
      'result=404': 'invalid_response, refused',
      'result=html': 'invalid_response, refused',
      'result=missing': 'invalid_response, refused',
      'result=private': 'invalid_response, refused',
      'result=redirect_private': 'invalid_response, refused',
      'result=javascript': 'invalid_response, refused',
      'result=slow': 'transient, unknown',
      // The sandbox sends it so slowly that the time limit comes before the size limit.
      'result=endless': 'transient, unknown',
      'result=truncated': 'invalid_response, refused',
      'usage=negative': 'image/png, image/png',
    },
  },
  {
    adapter: 'grok-video',
    family: 'grok',
    path: '/xai/v1',
    job: videoJob(),
    endings: {
      '': 'video/mp4',
      'submit=500': 'transient, unknown',
      'outcome=fail reason=internal': 'failed: transient',
      'outcome=fail reason=invalid': 'failed: invalid',
      'outcome=fail reason=quota': 'failed: quota',
      'outcome=fail reason=concurrency': 'failed: transient',
      'outcome=fail reason=moderation': 'failed: moderation',
      'outcome=moderated': 'failed: moderation',
      'outcome=expire': 'expired',
      'outcome=cancelled': 'failed: invalid',
      'deliver=0': 'failed: invalid_response',
      'poll=500': 'transient, unknown',
      'poll=429': 'rate, not_received',
      'poll=hang': 'transient, unknown',
      'poll=html': 'invalid_response, unknown',
      'poll=not_found': 'expired, refused',
      'poll=weird*3': 'video/mp4',
      'poll=regress': 'video/mp4',
      'result=404': 'expired, refused',
      'result=html': 'null',
      'result=missing': 'failed: invalid_response',
      'result=private': 'invalid_response, refused',
      'result=redirect_private': 'invalid_response, refused',
      'result=javascript': 'null',
      'result=slow': 'transient, not_received',
      'result=endless': 'invalid_response, refused',
      'result=truncated': 'transient, not_received',
      'usage=text': 'video/mp4',
    },
  },
];

for (const { adapter, family, path, job, endings } of FAMILIES) {
  describe(`the adapter ${adapter}`, () => {
    let sandbox: Sandbox;
    let provider: Provider;

    before(async () => {
      sandbox = await startSandbox({ port: 0, host: '127.0.0.1' });
      provider = providerWith(500);
    });
    after(() => sandbox.close());

    function providerWith(upstreamTimeoutMs: number): Provider {
      const credentials = [{ id: 'default', key: 'sk-test' }];
      const families = { [family]: { baseUrl: `${sandbox.url}${path}`, credentials } };
      const found = createProviders({ families, upstreamTimeoutMs }).get(adapter);
      if (!found) throw new Error(`there is no adapter ${adapter}`);
      return found;
    }

    function jobWith(directives: string): { job: UpstreamJob; marker: string } {
      const marker = randomUUID();
      const seconds = directives.includes('seconds=') ? '' : 'seconds=0';
      return { job: { ...job, prompt: `a cat ${marker} [[sandbox ${seconds} ${directives}]]` }, marker };
    }

    async function submissionsOf(marker: string): Promise<number> {
      const response = await fetch(`${sandbox.url}/_journal?contains=${marker}`);
      const { entries } = (await response.json()) as { entries: { operation: string }[] };
      return entries.filter(({ operation }) => operation === 'submit').length;
    }

    for (const [directives, ending] of Object.entries({ ...SUBMISSIONS, ...endings })) {
      it(`ends in “${ending}” with ${directives || 'no directive'}, and submits once`, async () => {
        const { job: jobToRun, marker } = jobWith(directives);
        expect((await storyOf(provider, jobToRun)).ending).to.equal(ending);
        expect(await submissionsOf(marker)).to.equal(1);
      }).timeout(15_000);
    }

    it('has the vendor’s words as they are, secrets included, since masking is not its business', async () => {
      const failure = await provider
        .submit(jobWith('submit=400 text=leaky').job)
        .catch((error: unknown) => error);
      expect(failure)
        .to.be.instanceOf(UpstreamFailure)
        .and.to.have.property('text')
        .that.matches(/https?:\/\//);
    });

    it('tells a wrong key from everything else', async () => {
      const credentials = [{ id: 'default', key: '' }];
      const families = { [family]: { baseUrl: `${sandbox.url}${path}`, credentials } };
      const keyless = createProviders({ families, upstreamTimeoutMs: 500 }).get(adapter);
      const failure = await keyless?.submit(jobWith('').job).catch((error: unknown) => error);
      expect(failure).to.include({ errorClass: 'auth', fate: 'not_received' });
    });

    if (job.order.mode === 'video') {
      it('passes progress on as it is told, also when it falls or is absurd', async () => {
        const { progress } = await storyOf(provider, jobWith('seconds=0.2 poll=flap').job);
        expect(progress.slice(0, 4)).to.deep.equal([50, 20, 250, -1]);
      });

      it('reports what was delivered and what it cost', async () => {
        const { evidence } = await storyOf(provider, jobWith('').job);
        expect(evidence).to.deep.equal({ seconds: 5, vendorCost: 50_000_000n });
        for (const usage of ['missing', 'negative', 'huge', 'text'])
          expect((await storyOf(provider, jobWith(`usage=${usage}`).job)).evidence, usage).to.deep.equal({
            seconds: 5,
          });
      });
    }
  });
}

/** Submits, polls until the end without a pause, and fetches the results. */
async function storyOf(provider: Provider, job: UpstreamJob): Promise<Story> {
  const story: Story = { ending: '', progress: [], evidence: null };
  try {
    story.ending = await tell(provider, job, story);
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    story.ending = verdictOf(error);
  }
  return story;
}

async function tell(provider: Provider, job: UpstreamJob, story: Story): Promise<string> {
  const submission = await provider.submit(job);
  if (submission.kind === 'finished') {
    story.evidence = submission.evidence;
    return fetchAll(provider, submission.results);
  }
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const state = await provider.poll?.(submission.handle);
    if (state?.kind === 'running') story.progress.push(state.progress);
    else if (state?.kind === 'failed') return `failed: ${state.errorClass}`;
    else if (state?.kind === 'succeeded') {
      story.evidence = state.evidence;
      return fetchAll(provider, state.results);
    } else if (state?.kind !== 'queued') return String(state?.kind);
  }
  return 'still running';
}

/** The types of all results by their bytes. */
async function fetchAll(provider: Provider, results: UpstreamResult[]): Promise<string> {
  const limits = { bytesMax: RESULT_BYTES_MAX, timeoutMs: 1_000, silenceMs: 1_000 };
  const types: (string | null)[] = [];
  for (const result of results) {
    const { stream } = await fetchResult(provider, result, limits);
    types.push(sniffMediaType(await buffer(stream)));
  }
  return types.map(String).join(', ');
}
