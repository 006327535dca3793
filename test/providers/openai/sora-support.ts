// The scaffolding of the tests of OpenAI's Videos API.
import type { UpstreamJob } from '../../../providers/provider.ts';
import { createSora } from '../../../providers/openai/sora.ts';
import { describeVendor, type Vendor } from '../describe-vendor.ts';
import { PNG, videoJob } from '../stand-in.ts';

export const DATA_URI = `data:image/png;base64,${PNG.toString('base64')}`;

/** Describes the adapter; every test begins with an empty list of received requests. */
export function describeSora(tests: (vendor: Vendor) => void): void {
  describeVendor('videos of OpenAI’s Videos API', { create: createSora, path: '/v1' }, (vendor) => {
    beforeEach(() => {
      vendor.received.length = 0;
    });
    tests(vendor);
  });
}

export function soraJob(
  changes: Partial<UpstreamJob['order']> = {},
  rest: Partial<UpstreamJob> = {},
): UpstreamJob {
  return videoJob({
    upstreamModel: 'sora-2-pro',
    order: { ...videoJob().order, seconds: 8, resolution: '720p', audio: true, ...changes },
    ...rest,
  });
}
