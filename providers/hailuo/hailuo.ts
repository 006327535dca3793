// Adapter for MiniMax's Hailuo videos: two APIs, distinguished by the model; neither takes a reference.
import type { JobHandle } from '../../domain/jobs.ts';
import { createJsonApi } from '../http/json-api.ts';
import type { Provider } from '../provider.ts';
import { everyCredential, originCheck, type AdapterSettings } from '../settings.ts';
import { hailuoV1 } from './v1.ts';
import { hailuoV2 } from './v2.ts';
import type { HailuoVariant } from './variant.ts';

export const NAME = 'hailuo';
export const FAMILY = 'hailuo';

/** Jobs of the first API cannot be cancelled: for those it is always too late. */
export function createHailuo(settings: AdapterSettings): Provider {
  const api = createJsonApi(settings);
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'job',
    credentialsFor: everyCredential(settings),
    submit: (job) => variantOf(job.upstreamModel).submit(api, job),
    poll: (handle, signal) => variantIn(handle).poll(api, handle, signal),
    cancel: async (handle, signal) => (await variantIn(handle).cancel?.(api, handle, signal)) ?? 'too_late',
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

function variantOf(upstreamModel: string): HailuoVariant {
  return /^minimax-h\d/i.test(upstreamModel) ? hailuoV2 : hailuoV1;
}

function variantIn(handle: JobHandle): HailuoVariant {
  return handle['dialect'] === hailuoV2.name ? hailuoV2 : hailuoV1;
}
