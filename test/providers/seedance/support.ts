// The scaffolding of the tests of Seedance.
import { createHash } from 'node:crypto';
import type { Order } from '../../../domain/orders/order.ts';
import type { UpstreamJob } from '../../../providers/provider.ts';
import { createSeedance } from '../../../providers/seedance/seedance.ts';
import { describeVendor, type Vendor } from '../describe-vendor.ts';
import { videoJob } from '../stand-in.ts';

export const VIDEO = 'https://example.com/a.mp4';
export const TASKS = '/api/v3/contents/generations/tasks';
export const MODEL = 'dreamina-seedance-2-0-260128';
/** The first 128 bits of the digest of the reference. */
export const MARK = createHash('sha256').update('task_1-1').digest('hex').slice(0, 32);

export function describeSeedance(tests: (vendor: Vendor) => void): void {
  describeVendor('Seedance videos', { create: createSeedance, path: '/api/v3' }, tests);
}

export function seedanceJob(order: Partial<Order> = {}, changes: Partial<UpstreamJob> = {}): UpstreamJob {
  const job = videoJob({ upstreamModel: MODEL, ...changes });
  return { ...job, order: { ...job.order, resolution: '720p', ...order } };
}
