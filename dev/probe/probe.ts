// First contact with a vendor: the cheapest real call for each model of a family, and the open questions. The
// price is shown and agreed to before anything is sent.
import { randomUUID } from 'node:crypto';
import type { Model } from '../../domain/catalog/catalog.ts';
import { upstreamsOf } from '../../domain/catalog/upstream.ts';
import { toUsd } from '../../domain/credits.ts';
import { computeCharge, snapshotPrice, type Evidence } from '../../domain/pricing.ts';
import { createJsonApi } from '../../providers/http/json-api.ts';
import { UpstreamFailure, type Provider, type UpstreamJob } from '../../providers/provider.ts';
import { createProviders } from '../../providers/registry.ts';
import type { FamilySettings } from '../../providers/settings.ts';
import { cheapestOrder, type CheapestOrder } from './cheapest.ts';
import { authorizeOf, questionsOf, type Materials, type Question } from './questions.ts';

export interface ProbeInput {
  family: string;
  families: Readonly<Record<string, FamilySettings>>;
  /** Those that are offered with these settings. */
  models: readonly Model[];
  materials: Materials;
  print: (line: string) => void;
  /** Whether the person at the terminal agrees. */
  confirm: (question: string) => Promise<boolean>;
  pollEveryMs: number;
  /** How long one job may take. */
  jobLimitMs: number;
}

/** What was asked, and what the vendor's answer proves. */
export interface Finding {
  subject: string;
  finding: string;
}

const UPSTREAM_TIMEOUT_MS = 120_000;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** Null where the person does not agree: then nothing was sent. */
export async function probeFamily(input: ProbeInput): Promise<Finding[] | null> {
  const { family, families, models, materials, print, confirm } = input;
  const calls = models.filter((model) => model.family === family).map(cheapestOrder);
  const questions = questionsOf(family, materials);
  for (const { model, order, price } of calls)
    print(`${model.id}: ${describeOrder(order)}, at most $${toUsd(price)}`);
  for (const { text, dollarsMax } of questions)
    print(`${text} at most ${dollarsMax === null ? 'an unknown price' : `$${dollarsMax}`}`);
  const total = calls.reduce((sum, { price }) => sum + price, 0n);
  const known = questions.reduce((sum, { dollarsMax }) => sum + (dollarsMax ?? 0), toUsd(total));
  const calledCount = calls.length + questions.length;
  const agreed = await confirm(
    `${calledCount} calls to ${family}, at most $${known.toFixed(2)} and what is unknown. Send them? (yes/no) `,
  );
  if (!agreed) return null;
  const providers = createProviders({ families, upstreamTimeoutMs: UPSTREAM_TIMEOUT_MS });
  const findings: Finding[] = [];
  const note = (subject: string, finding: string): void => {
    findings.push({ subject, finding });
    print(`${subject}: ${finding}`);
  };
  for (const call of calls) {
    const provider = providers.get(call.model.adapter);
    note(call.model.id, provider ? await tryModel(provider, call, input) : 'no credentials');
  }
  for (const question of questions) note(question.text, await ask(question, input));
  return findings;
}

function describeOrder({ seconds, resolution, audio, images, outputTokens }: CheapestOrder['order']): string {
  const parts = [
    seconds > 0 && `${seconds} s`,
    resolution,
    audio !== null && (audio ? 'with sound' : 'silent'),
    images > 0 && `${images} image`,
    outputTokens > 0 && `${outputTokens} tokens`,
  ];
  return parts.filter(Boolean).join(', ') || 'one piece';
}

async function tryModel(provider: Provider, call: CheapestOrder, input: ProbeInput): Promise<string> {
  try {
    const evidence = await deliver(provider, jobOf(provider, call, input.materials), input);
    const { amount, loss } = computeCharge(snapshotPrice(call.model), call.order, evidence);
    const told = evidence.vendorCost === undefined ? '' : `, the vendor bills $${toUsd(evidence.vendorCost)}`;
    const beyond = loss > 0n ? `, $${toUsd(loss)} MORE than estimated` : '';
    return `taken and delivered for $${toUsd(amount)}${told}${beyond}`;
  } catch (error) {
    return describeRefusal(error);
  }
}

function jobOf(
  provider: Provider,
  { model, order }: CheapestOrder,
  { prompt, image }: Materials,
): UpstreamJob {
  return {
    reference: `probe_${randomUUID()}:1`,
    credential: provider.credentialsFor(model.upstreamModel)[0] ?? 'default',
    upstreamModel: model.upstreamModel,
    order,
    prompt,
    messages: order.mode === 'text' ? [{ role: 'user', content: prompt }] : [],
    upstreams: order.mode === 'text' ? upstreamsOf(model) : [],
    userId: 'probe',
    inputImages: Array.from({ length: order.inputImages }, () => image),
    inputVideos: [],
    negativePrompt: null,
  };
}

async function deliver(provider: Provider, job: UpstreamJob, input: ProbeInput): Promise<Evidence> {
  const submission = await provider.submit(job);
  if (submission.kind === 'finished') return submission.evidence;
  const giveUpAt = Date.now() + input.jobLimitMs;
  while (Date.now() < giveUpAt) {
    const state = await provider.poll?.(submission.handle);
    if (state?.kind === 'succeeded') return state.evidence;
    if (state?.kind === 'failed')
      throw new UpstreamFailure(state.errorClass, 'refused', { text: state.text });
    if (state?.kind !== 'queued' && state?.kind !== 'running') break;
    await new Promise((resolve) => setTimeout(resolve, input.pollEveryMs));
  }
  throw new UpstreamFailure('expired', 'unknown', {
    text: `job ${submission.handle.id} did not end in time`,
  });
}

/** A job that is taken is left to the vendor: that it was taken is the answer. */
async function ask({ family, path, json, read }: Question, { families }: ProbeInput): Promise<string> {
  const settings = families[family];
  const [credential] = settings?.credentials ?? [];
  if (!settings || !credential) return 'no credentials';
  const api = createJsonApi({ ...settings, upstreamTimeoutMs: UPSTREAM_TIMEOUT_MS }, authorizeOf(family));
  try {
    const request = {
      method: 'POST',
      path,
      json,
      credential: credential.id,
      bytesMax: ANSWER_BYTES_MAX,
    } as const;
    const answer = await api.send(request);
    return `yes, taken${read ? `: ${read(answer.json)}` : ''}`;
  } catch (error) {
    return describeRefusal(error);
  }
}

/** The vendor's own words, which only the operator reads: they may say that a model has to be activated. */
function describeRefusal(error: unknown): string {
  if (!(error instanceof UpstreamFailure)) throw error;
  const { errorClass, status, text } = error;
  return `refused (${errorClass}${status === null ? '' : `, HTTP ${status}`}): ${text ?? 'without a word'}`;
}
