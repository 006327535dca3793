// The scaffolding of the tests of Wan.
import type { Order } from '../../../domain/orders/order.ts';
import type { UpstreamJob } from '../../../providers/provider.ts';
import { createWan } from '../../../providers/wan/wan.ts';
import { describeVendor, type Vendor } from '../describe-vendor.ts';
import { sendJson, videoJob } from '../stand-in.ts';

export const VIDEO = 'https://example.com/a.mp4';
export const TASKS = '/api/v1/tasks';
export const PROMPT = 'a cat that runs';

export interface Sent {
  model: string;
  input: { prompt: string; media?: unknown };
  parameters: Record<string, unknown>;
}

export function describeWan(tests: (vendor: Vendor) => void): void {
  describeVendor('Wan videos', { create: createWan }, tests);
}

/** Submits a job that is accepted, and returns the body that the vendor was sent. */
export async function sent(vendor: Vendor, job: UpstreamJob): Promise<Sent> {
  vendor.play = (res) =>
    sendJson(res, 200, { request_id: 'r', output: { task_id: 't', task_status: 'PENDING' } });
  await vendor.provider.submit(job);
  return JSON.parse(String(vendor.received.at(-1)?.body)) as Sent;
}

export function wanJob(order: Partial<Order> = {}, changes: Partial<UpstreamJob> = {}): UpstreamJob {
  const job = videoJob({ upstreamModel: 'wan3.0-video', ...changes });
  return { ...job, order: { ...job.order, resolution: '720p', ...order } };
}
