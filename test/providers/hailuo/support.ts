// The scaffolding of the tests of MiniMax's videos, the same for both of its APIs.
import { createHailuo } from '../../../providers/hailuo/hailuo.ts';
import type { JobHandle } from '../../../domain/jobs.ts';
import type { JobState, UpstreamJob } from '../../../providers/provider.ts';
import { describeVendor, type Vendor } from '../describe-vendor.ts';
import { sendJson, videoJob } from '../stand-in.ts';

export const PICTURE = 'https://example.com/a.png';
export const URL_OF_VIDEO = 'https://cdn.example/video.mp4';

export interface Hailuo {
  readonly vendor: Vendor;
  /** Lets the stand-in answer all next requests with this JSON. */
  answer(json: unknown, status?: number): void;
  /** Submits a job that is accepted, and returns the body that the vendor was sent. */
  sent(job: UpstreamJob): Promise<unknown>;
  /** Method and path of every request so far. */
  requests(): string[];
  polled(handle: JobHandle): Promise<JobState | undefined>;
}

export function describeHailuo(tests: (hailuo: Hailuo) => void): void {
  const credentials = [{ id: 'first', key: 'sk-first' }];
  const create = ({ baseUrl }: { baseUrl: string }) =>
    createHailuo({ baseUrl, credentials, upstreamTimeoutMs: 2_000 });
  describeVendor('MiniMax videos', { create }, (vendor) => {
    function answer(json: unknown, status = 200): void {
      vendor.play = (res) => sendJson(res, status, json);
    }

    async function sent(job: UpstreamJob): Promise<unknown> {
      answer({ task_id: '106', base_resp: { status_code: 0, status_msg: 'success' } });
      await vendor.provider.submit(job);
      return JSON.parse(String(vendor.received.at(-1)?.body));
    }

    const requests = (): string[] => vendor.received.map(({ method, path }) => `${method} ${path}`);
    const polled = async (handle: JobHandle) => vendor.provider.poll?.(handle);
    tests({ vendor, answer, sent, requests, polled });
  });
}

export function hailuoJob(upstreamModel: string, changes: Partial<UpstreamJob['order']> = {}): UpstreamJob {
  const order = { ...videoJob().order, seconds: 6, resolution: '768p', ...changes };
  return videoJob({ upstreamModel, order, credential: 'first' });
}
