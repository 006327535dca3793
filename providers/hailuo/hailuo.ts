// Adapter for MiniMax's videos: two APIs, told apart by the model. Neither knows an id of ours.
import type { JobHandle } from '../../domain/jobs.ts';
import type { HailuoCalls, HailuoDialect } from './variant.ts';
import { hailuoV1 } from './v1.ts';
import { hailuoV2 } from './v2.ts';
import { requestJson, type UpstreamRequest } from '../http/client.ts';
import type { Provider, Submission, UpstreamJob } from '../provider.ts';
import { credentialIds, findCredential, originCheck, type AdapterSettings } from '../settings.ts';

export const NAME = 'hailuo';
export const FAMILY = 'hailuo';

const ANSWER_BYTES_MAX = 1024 * 1024;

/** Jobs of the first API cannot be cancelled: for those it is always too late. */
export function createHailuo(settings: AdapterSettings): Provider {
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'job',
    credentials: credentialIds(settings),
    submit: (job) => submit(settings, job),
    poll: async (handle, signal) =>
      dialectOf(handle).poll(callsOf(settings, handle.credential, signal), handle),
    cancel: (handle, signal) => cancel(settings, handle, signal),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

async function submit(settings: AdapterSettings, job: UpstreamJob): Promise<Submission> {
  const dialect = /^minimax-h\d/i.test(job.upstreamModel) ? hailuoV2 : hailuoV1;
  const { id, upstreamRequestId } = await dialect.submit(callsOf(settings, job.credential), job);
  return {
    kind: 'accepted',
    handle: { id, credential: job.credential, dialect: dialect.name },
    upstreamRequestId,
  };
}

async function cancel(
  settings: AdapterSettings,
  handle: JobHandle,
  signal?: AbortSignal,
): Promise<'cancelled' | 'too_late'> {
  const calls = callsOf(settings, handle.credential, signal);
  return (await dialectOf(handle).cancel?.(calls, handle)) ?? 'too_late';
}

function dialectOf(handle: JobHandle): HailuoDialect {
  return handle['dialect'] === hailuoV2.name ? hailuoV2 : hailuoV1;
}

function callsOf(settings: AdapterSettings, credentialId: string, signal?: AbortSignal): HailuoCalls {
  const { key } = findCredential(settings, credentialId);
  const to = (method: UpstreamRequest['method'], path: string): UpstreamRequest => ({
    method,
    url: `${settings.baseUrl}${path}`,
    headers: { authorization: `Bearer ${key}` },
    timeoutMs: settings.upstreamTimeoutMs,
    bytesMax: ANSWER_BYTES_MAX,
    signal,
  });
  return {
    get: (path, judge) => requestJson(to('GET', path), judge),
    delete: (path, judge) => requestJson(to('DELETE', path), judge),
    post: (path, body, judge) => {
      const call = to('POST', path);
      const headers = { ...call.headers, 'content-type': 'application/json' };
      return requestJson({ ...call, headers, body: JSON.stringify(body) }, judge);
    },
  };
}
