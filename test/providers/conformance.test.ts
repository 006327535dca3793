// Every adapter against the sandbox's vendor: one table of misfortunes, and what each family makes of it.
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { startSandbox, type Sandbox } from '../../sandbox/server.ts';
import type { JobHandle } from '../../domain/jobs.ts';
import { sniffMediaType } from '../../domain/files/media-types.ts';
import { fetchResult } from '../../providers/http/fetch-result.ts';
import {
  UpstreamFailure,
  type Provider,
  type UpstreamJob,
  type UpstreamResult,
} from '../../providers/provider.ts';
import { createProviders } from '../../providers/registry.ts';
import { until } from '../support/until.ts';
import type { Family } from './families/family.ts';
import { verdictOf } from './stand-in.ts';

const RESULT_BYTES_MAX = 2_000_000;
const POLLS_MAX = 5_000;
/** Stands for the handle of work that finished with its submission and so has no job. */
const NO_JOB: JobHandle = { id: '', credential: 'default' };

/** The outcome of a job in one line, and its progress as the vendor told it. */
interface Story {
  ending: string;
  progress: (number | null)[];
  evidence: unknown;
}

/** Outcomes that are the same for every family, since the answer to the submission alone decides. */
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

const folder = new URL('families/', import.meta.url);
const files = readdirSync(folder).filter((name) => name !== 'family.ts');
const families = await Promise.all(
  files.map(async (name) => ((await import(new URL(name, folder).href)) as { FAMILY: Family }).FAMILY),
);

for (const { adapter, family, path, job, endings, ...expected } of families) {
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
      const reference = `task_${marker}:1`;
      const prompt = `a cat ${marker} [[sandbox ${seconds} ${directives}]]`;
      const messages = job.order.mode === 'text' ? [{ role: 'user', content: prompt }] : [];
      return { job: { ...job, reference, prompt, messages }, marker };
    }

    async function submissionsOf(marker: string): Promise<number> {
      const response = await fetch(`${sandbox.url}/_journal?contains=${marker}`);
      const { entries } = (await response.json()) as { entries: { operation: string }[] };
      return entries.filter(({ operation }) => operation === 'submit' || operation === 'chat').length;
    }

    for (const [directives, ending] of Object.entries({ ...SUBMISSIONS, ...endings })) {
      it(`ends in “${ending}” with ${directives || 'no directive'}, and submits once`, async () => {
        const { job: jobToRun, marker } = jobWith(directives);
        expect((await storyOf(provider, jobToRun)).ending).to.equal(ending);
        expect(await submissionsOf(marker)).to.equal(1);
      });
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

    if (expected.progress.length > 0)
      it('passes progress on as it is told, also when it falls or is absurd', async () => {
        const { progress } = await storyOf(provider, jobWith('seconds=0.2 poll=flap').job);
        expect(progress.slice(0, expected.progress.length)).to.deep.equal(expected.progress);
      });

    it('reports what was delivered and what it cost, and nothing that makes no sense', async () => {
      const { honest, doubtful } = expected.evidence;
      expect((await storyOf(provider, jobWith('').job)).evidence).to.deep.equal(honest);
      if (!doubtful) return;
      for (const usage of ['missing', 'negative', 'huge', 'text'])
        expect((await storyOf(provider, jobWith(`usage=${usage}`).job)).evidence, usage).to.deep.equal(
          doubtful,
        );
    });

    it(`can${expected.cancel ? '' : 'not'} stop a job`, async () => {
      if (!expected.cancel) return void expect(provider.cancel).to.equal(undefined);
      const { queued, running, done } = expected.cancel;
      expect(await cancelWhen('queued', 'seconds=600'), 'queued').to.equal(queued);
      expect(await cancelWhen('running', 'seconds=2'), 'running').to.equal(running);
      expect(await cancelWhen('succeeded', 'seconds=0'), 'done').to.equal(done);
    });

    it(`can${expected.lookUp ? '' : 'not'} find a job whose answer was lost`, async () => {
      if (!expected.lookUp) return void expect(provider.lookUp).to.equal(undefined);
      expect(await lookUpAfter('submit=accept_then_reset'), 'lost').to.equal(expected.lookUp.lost);
      expect(await lookUpAfter('submit=reset'), 'absent').to.equal(expected.lookUp.absent);
    });

    /**
     * Cancels as soon as the vendor says that the job is in this state; returns the outcome of the
     * cancellation and what the vendor says afterwards.
     */
    async function cancelWhen(state: string, directives: string): Promise<string> {
      const submission = await provider.submit(jobWith(directives).job);
      if (submission.kind !== 'accepted') throw new Error('this vendor has no jobs');
      await until(`the vendor says ${state}`, async () => {
        return (await provider.poll?.(submission.handle))?.kind === state;
      });
      const answer = await provider.cancel?.(submission.handle).catch(verdictOf);
      return `${String(answer)}, then ${String((await provider.poll?.(submission.handle))?.kind)}`;
    }

    async function lookUpAfter(directives: string): Promise<string> {
      const { job: lost } = jobWith(directives);
      const reference = `task_${randomUUID()}:1`;
      const sentAt = new Date();
      await provider.submit({ ...lost, reference }).catch(() => undefined);
      const found = await provider.lookUp?.({ ...lost, reference }, sentAt);
      if (found?.kind !== 'found') return String(found?.kind);
      return `found, ${String((await provider.poll?.(found.handle))?.kind)}`;
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
    return fetchAll(provider, NO_JOB, submission.results);
  }
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const state = await provider.poll?.(submission.handle);
    if (state?.kind === 'running') story.progress.push(state.progress);
    else if (state?.kind === 'failed') return `failed: ${state.errorClass}`;
    else if (state?.kind === 'succeeded') {
      story.evidence = state.evidence;
      return fetchAll(provider, submission.handle, state.results);
    } else if (state?.kind !== 'queued') return String(state?.kind);
  }
  return 'still running';
}

/** Returns the types of all results by their bytes; for texts, the texts themselves. */
async function fetchAll(provider: Provider, handle: JobHandle, results: UpstreamResult[]): Promise<string> {
  const limits = { handle, bytesMax: RESULT_BYTES_MAX, timeoutMs: 1_000, silenceMs: 1_000 };
  const types: (string | null)[] = [];
  for (const result of results) {
    if (result.kind === 'text') {
      types.push(`“${result.text}”`);
      continue;
    }
    const { stream } = await fetchResult(provider, result, limits);
    types.push(sniffMediaType(await buffer(stream)));
  }
  return types.map(String).join(', ');
}
