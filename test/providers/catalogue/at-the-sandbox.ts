// Runs a declared order at the sandbox's vendor: the adapter in front of it, and the job as an activity would
// build it.
import sharp from 'sharp';
import type { Model } from '../../../domain/catalog/catalog.ts';
import { sizeOf } from '../../../providers/openai/sora-order.ts';
import type { Provider, UpstreamJob } from '../../../providers/provider.ts';
import { createProviders } from '../../../providers/registry.ts';
import { videoJob } from '../stand-in.ts';
import type { DeclaredOrder } from './declared-orders.ts';

const VERTEX = '/google/v1/projects/sandbox-project/locations/us-central1';

/** Where the sandbox plays each family. */
export const PATHS: Readonly<Record<string, string>> = {
  openai: '/openai/v1',
  grok: '/xai/v1',
  gemini: '/google/v1beta',
  vidu: '/vidu',
  kling: '/kling',
  hailuo: '/minimax',
  seedance: '/ark/api/v3',
  wan: '/dashscope',
  sora: '/openai/v1',
  veo: '/google/v1beta',
};

export function providerOf({ adapter, family, id }: Model, url: string): Provider {
  const credentials = [{ id: 'default', key: 'sk-test' }];
  // The releases of Veo are those of Vertex, the previews were those of the Gemini API.
  const path = family === 'veo' && !id.includes('preview') ? VERTEX : PATHS[family];
  const families = { [family]: { baseUrl: `${url}${path}`, credentials } };
  const provider = createProviders({ families, upstreamTimeoutMs: 20_000 }).get(adapter);
  if (!provider) throw new Error(`there is no adapter ${adapter}`);
  return provider;
}

export async function jobOf(model: Model, { input, order }: DeclaredOrder): Promise<UpstreamJob> {
  const image = model.limits.inputImagesAsUrls ? null : await imageFor(model, order);
  return videoJob({
    reference: `task_${crypto.randomUUID()}:1`,
    upstreamModel: model.upstreamModel,
    prompt: 'a fox [[sandbox seconds=0]]',
    order,
    inputImages: input.inputImages.map((link) => image ?? link),
    inputVideos: input.inputVideos ?? [],
    negativePrompt: input.options?.negativePrompt ?? null,
  });
}

const images = new Map<string, Promise<string>>();

/** A JPEG that every vendor takes; OpenAI's videos begin with one of their own size. */
function imageFor({ family }: Model, order: DeclaredOrder['order']): Promise<string> {
  const size = family === 'sora' ? sizeOf(order) : undefined;
  const [width = 512, height = 512] = size?.split('x').map(Number) ?? [];
  const key = `${width}x${height}`;
  const known = images.get(key) ?? encode(width, height);
  images.set(key, known);
  return known;
}

async function encode(width: number, height: number): Promise<string> {
  const picture = sharp({ create: { width, height, channels: 3, background: 'orange' } });
  return `data:image/jpeg;base64,${(await picture.jpeg({ quality: 30 }).toBuffer()).toString('base64')}`;
}
