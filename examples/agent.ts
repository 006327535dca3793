// An agent that makes a video within a budget: it reads what the models offer, asks for the prices of those
// that fit, and takes the one that is usually the quickest.
//   SVC_BASE_URL=http://127.0.0.1:8080 SVC_API_KEY=sk-svc_… node examples/agent.ts "waves against a pier" 60
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';

interface Model {
  id: string;
  kind: 'text' | 'image' | 'video';
  limits: {
    durations?: { values: number[] } | { min: number; max: number };
    inputImagesMin?: number;
  };
  usual_seconds: { p50: number } | null;
}

interface Offer {
  model: Model;
  /** What the video costs at most. */
  credits: number;
}

const SECONDS = 4;
const POLL_MS = 2_000;
/** A model whose time is not known yet counts as slow. */
const UNKNOWN_SECONDS = 300;

const [prompt = 'waves against a pier', budget = '60'] = process.argv.slice(2);
const apiKey = process.env['SVC_API_KEY'];
if (!apiKey) throw new Error('SVC_API_KEY: set it to your API key; npm start prints one.');
const gateway = new OpenAI({
  apiKey,
  baseURL: `${process.env['SVC_BASE_URL'] ?? 'http://127.0.0.1:8080'}/v1`,
});

const offer = await choose(Number(budget));
console.log(`picked: ${offer.model.id}, at most ${offer.credits} credits`);
console.log('video:', await makeVideo(offer.model.id));

/** The quickest model within the budget; of equals the cheapest. Throws when there is none. */
async function choose(credits: number): Promise<Offer> {
  const { data } = await gateway.get<{ data: Model[] }>('/models');
  const fitting = data.filter(({ kind, limits }) => kind === 'video' && fits(limits));
  const offers = (await Promise.all(fitting.map(priceOf))).filter((each) => each !== null);
  const [best] = offers
    .filter((each) => each.credits <= credits)
    .toSorted((one, other) => secondsOf(one) - secondsOf(other) || one.credits - other.credits);
  if (!best) throw new Error(`no model makes ${SECONDS} seconds for ${credits} credits`);
  return best;
}

function fits({ durations, inputImagesMin = 0 }: Model['limits']): boolean {
  if (!durations || inputImagesMin > 0) return false;
  if ('values' in durations) return durations.values.includes(SECONDS);
  return durations.min <= SECONDS && SECONDS <= durations.max;
}

/** Null when the model does not take this order after all. */
async function priceOf(model: Model): Promise<Offer | null> {
  const body = { mode: 'video', model: model.id, prompt, duration: SECONDS };
  try {
    const { data } = await gateway.post<{ data: { creditsEstimate: number } }>('/estimates', { body });
    return { model, credits: data.creditsEstimate };
  } catch (error) {
    if (error instanceof OpenAI.BadRequestError) return null;
    throw error;
  }
}

function secondsOf({ model }: Offer): number {
  return model.usual_seconds?.p50 ?? UNKNOWN_SECONDS;
}

/** Answers with the path of the file; throws when the video failed. */
async function makeVideo(model: string): Promise<string> {
  let video = await gateway.videos.create({ model, prompt, seconds: String(SECONDS) as '4' });
  while (video.status === 'queued' || video.status === 'in_progress') {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    video = await gateway.videos.retrieve(video.id);
  }
  if (video.error) throw new Error(`the video failed: ${video.error.message}`);
  const content = await gateway.videos.downloadContent(video.id);
  const path = join(tmpdir(), `${video.id}.mp4`);
  writeFileSync(path, Buffer.from(await content.arrayBuffer()));
  return path;
}
