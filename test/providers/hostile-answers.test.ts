// Whatever JSON a vendor answers, an adapter makes of it a state or an UpstreamFailure, which workflows know.
import { inspect } from 'node:util';
import { expect } from 'chai';
import { UPSTREAM_ERROR_CLASSES, type UpstreamErrorClass } from '../../domain/failures.ts';
import type { JsonValue } from '../../domain/json.ts';
import { UpstreamFailure, type Provider } from '../../providers/provider.ts';
import { createProviders } from '../../providers/registry.ts';
import { sendJson, settingsAt, startStandIn, videoJob, type StandIn } from './stand-in.ts';

/** Adapters of jobs, their families, and a model and the rest of the handle that chooses one of two APIs. */
const ADAPTERS: readonly (readonly [name: string, family: string, model: string, dialect: string])[] = [
  ['grok-video', 'grok', 'grok-imagine-video', ''],
  ['gemini-omni', 'gemini', 'gemini-omni', ''],
  ['vidu', 'vidu', 'viduq3-turbo', ''],
  ['kling', 'kling', 'kling-3.0', '3'],
  ['kling', 'kling', 'kling-v2-6', 'legacy'],
  ['hailuo', 'hailuo', 'MiniMax-Hailuo-02', 'v1'],
  ['hailuo', 'hailuo', 'MiniMax-H3', 'v2'],
  ['seedance', 'seedance', 'seedance-2-5', ''],
  ['wan', 'wan', 'wan3', ''],
  ['sora', 'sora', 'sora-2', ''],
  ['veo', 'veo', 'veo-3.1', 'gemini'],
];

/** In the place of every status, and of codes and reasons. */
const WORDS: readonly JsonValue[] = [
  ...['done', 'completed', 'succeeded', 'Success', 'failed', 'Fail', '__proto__', 'constructor', -1],
  { toString: 1, valueOf: 1 },
];

/** In the place of everything else, and of codes and reasons. */
const VALUES: readonly JsonValue[] = [
  ...['constructor', '\0\ud83d', 'https://example.com/v.mp4', '9'.repeat(400), 1e308, -1, null],
  { toString: 1, valueOf: 1 },
  [{}, null, 'x', [1]],
];

const KINDS = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired'];
const OTHER_KINDS = ['accepted', 'finished', 'found', 'absent', 'unclear'];

describe('an answer of a hostile vendor', () => {
  let vendor: StandIn;
  let status = 200;
  let json: JsonValue = {};
  before(async () => {
    vendor = await startStandIn((res) => sendJson(res, status, json));
  });
  after(() => vendor.close());

  for (const [name, family, upstreamModel, dialect] of ADAPTERS)
    it(`to ${name}${dialect && ` (${dialect})`} is a state or a failure of a known class`, async () => {
      const families = { [family]: settingsAt(vendor.url) };
      const provider = createProviders({ families, upstreamTimeoutMs: 2_000 }).get(name);
      if (!provider) throw new Error(`there is no adapter ${name}`);
      for (const word of WORDS)
        for (const value of VALUES)
          for (const code of [word, value, 'constructor', undefined]) {
            json = answerOf(word, value, code);
            for (status of [200, 400]) await expectKnownOutcomes(provider, upstreamModel, dialect);
          }
    });
});

/** An answer with the members of every vendor's answers; without an error where its code is undefined. */
function answerOf(word: JsonValue, value: JsonValue, code: JsonValue | undefined): JsonValue {
  const error = code === undefined ? null : { code, type: code, reason: code, status: code, message: value };
  const states = {
    status: word,
    state: word,
    task_status: word,
    err_code: code ?? null,
    reason: code ?? null,
  };
  const files = { url: value, uri: value, video_url: value, download_url: value, duration: value };
  const entry = {
    ...states,
    ...files,
    id: 'job_1',
    task_id: 'job_1',
    seconds: value,
    created_at: Date.now() / 1000,
  };
  const job = {
    ...entry,
    message: value,
    error,
    done: true,
    metadata: { url: value },
    video: { ...files, respect_moderation: value },
    content: files,
    creations: [files],
    credits: value,
    usage: { completion_tokens: value, duration: value, output_seconds: value, cost_in_usd_ticks: value },
    response: { generateVideoResponse: { raiMediaFilteredReasons: [value] } },
    steps: [{ type: 'model_output', content: [{ type: 'text', text: value }], error }],
    outputs: [{ type: 'video', ...files }],
    task_result: { videos: [files] },
    billing: [{ charge_type: 'cash', currency: 'USD', amount: value }],
    block_reason: value,
    progress: value,
  };
  return {
    ...job,
    code: code ?? 0,
    request_id: value,
    base_resp: { status_code: code ?? 0, status_msg: value },
    task: job,
    output: job,
    file: files,
    file_id: value,
    items: [entry],
    data: code === undefined ? [job] : job,
  };
}

async function expectKnownOutcomes(
  provider: Provider,
  upstreamModel: string,
  dialect: string,
): Promise<void> {
  const handle = { id: 'job_1', credential: 'default', ...(dialect && { dialect }) };
  const job = videoJob({ upstreamModel, order: { ...videoJob().order, resolution: '720p' } });
  const calls: Record<string, (() => Promise<unknown>) | undefined> = {
    submit: () => provider.submit(job),
    poll: async () => provider.poll?.(handle),
    cancel: async () => provider.cancel?.(handle),
    lookUp: async () => provider.lookUp?.(job, new Date()),
  };
  for (const [step, call] of Object.entries(calls)) {
    const outcome = await call?.().catch((error: unknown) => error);
    expect(isKnown(outcome), `${step}: ${inspect(outcome)}`).to.equal(true);
  }
}

function isKnown(outcome: unknown): boolean {
  if (outcome === undefined || outcome === 'cancelled' || outcome === 'too_late') return true;
  const { upstreamRequestId } = outcome as { upstreamRequestId?: string | null };
  if (!/^[\x21-\x7e]{1,200}$/.test(upstreamRequestId ?? 'none')) return false;
  if (outcome instanceof UpstreamFailure)
    return isClass(outcome.errorClass) && ['not_received', 'refused', 'unknown'].includes(outcome.fate);
  const state = outcome as { kind: string; errorClass?: unknown };
  if (!KINDS.includes(state.kind) && !OTHER_KINDS.includes(state.kind)) return false;
  return state.kind !== 'failed' || isClass(state.errorClass);
}

function isClass(value: unknown): boolean {
  return UPSTREAM_ERROR_CLASSES.includes(value as UpstreamErrorClass);
}
