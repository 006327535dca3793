// The scaffolding of the tests of Veo: one stand-in as the Gemini API and as Vertex, an adapter for each.
import type { JobHandle } from '../../../domain/jobs.ts';
import type { Provider, UpstreamJob } from '../../../providers/provider.ts';
import { createVeo } from '../../../providers/google/veo.ts';
import { describeVendor, type Vendor } from '../describe-vendor.ts';
import { videoJob } from '../stand-in.ts';

const PROJECT = '/v1/projects/p-1/locations/us-central1';
export const RESOURCE = `${PROJECT.slice(4)}/publishers/google/models/veo-3.1-generate-001`;
export const GEMINI_JOB = handleOf('gemini', 'models/veo-3.1-generate-001/operations/op-1');
export const VERTEX_JOB = handleOf('vertex', `${RESOURCE}/operations/op-1`);

export interface Veo {
  readonly vendor: Vendor;
  readonly gemini: Provider;
  readonly vertex: Provider;
  /** The body of the last request, parsed. */
  body(): unknown;
}

/** Describes Veo; every test begins with an empty list of received requests. */
export function describeVeo(tests: (veo: Veo) => void): void {
  const createAt = (baseUrl: string): Provider =>
    createVeo({
      baseUrl,
      credentials: [{ id: 'default', key: 'google-key' }],
      upstreamTimeoutMs: 2_000,
    });

  const create = ({ baseUrl }: { baseUrl: string }) => createAt(baseUrl);
  describeVendor('Veo videos', { create, path: '/v1beta' }, (vendor) => {
    let vertex: Provider | null = null;
    beforeEach(() => {
      vendor.received.length = 0;
    });
    tests({
      vendor,
      get gemini() {
        return vendor.provider;
      },
      get vertex() {
        return (vertex ??= createAt(vendor.url + PROJECT));
      },
      body: () => JSON.parse(String(vendor.received.at(-1)?.body)),
    });
  });
}

export function veoJob(changes: Partial<UpstreamJob['order']> = {}, inputImages: string[] = []): UpstreamJob {
  return videoJob({
    upstreamModel: 'veo-3.1-generate-001',
    order: { ...videoJob().order, seconds: 6, resolution: '720p', audio: true, ...changes },
    inputImages,
  });
}

function handleOf(dialect: string, operation: string): JobHandle {
  return { id: 'op-1', credential: 'default', dialect, operation, model: 'veo-3.1-generate-001' };
}
