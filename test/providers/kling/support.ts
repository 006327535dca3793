// The scaffolding of the tests of Kling: the adapter with a plain key and a signing key, and a clock to turn.
import { createKling } from '../../../providers/kling/kling.ts';
import type { Provider, UpstreamJob } from '../../../providers/provider.ts';
import { describeVendor, type Vendor } from '../describe-vendor.ts';
import { sendJson, videoJob } from '../stand-in.ts';

export const PICTURE = 'https://example.com/a.png';
export const URL_OF_VIDEO = 'https://cdn.example/video.mp4';
/** The time of the clock at first. */
export const START_MS = Date.UTC(2026, 10, 21);

export interface Kling {
  readonly vendor: Vendor;
  readonly clock: { nowMs: number };
  /** An adapter with these keys, whose credentials are `first` and `second`. */
  providerWith(keys: readonly string[]): Provider;
  /** Lets the stand-in answer all next requests with these data in the vendor's envelope. */
  answer(data: unknown, code?: number, status?: number): void;
  /** Submits a job that is accepted, and returns what the vendor was sent. */
  sent(job: UpstreamJob): Promise<{ path: string | undefined; body: unknown }>;
}

export function describeKling(tests: (kling: Kling) => void): void {
  const clock = { nowMs: START_MS };

  function createWith(baseUrl: string, keys: readonly string[]): Provider {
    const ids = ['first', 'second'];
    const credentials = keys.map((key, index) => ({ id: ids[index] ?? '', key }));
    return createKling({ baseUrl, credentials, upstreamTimeoutMs: 2_000 }, () => clock.nowMs);
  }

  const create = ({ baseUrl }: { baseUrl: string }) => createWith(baseUrl, ['key-of-first', 'AK1:SK1']);
  describeVendor('Kling', { create }, (vendor) => {
    function answer(data: unknown, code = 0, status = 200): void {
      vendor.play = (res) =>
        sendJson(res, status, { code, message: `message of ${code}`, request_id: 'r-1', data });
    }

    async function sent(job: UpstreamJob): Promise<{ path: string | undefined; body: unknown }> {
      answer({ task_id: 't-1', id: 't-1' });
      await vendor.provider.submit(job);
      const { path, body } = vendor.received.at(-1) ?? {};
      return { path, body: JSON.parse(String(body)) };
    }

    tests({ vendor, clock, providerWith: (keys) => createWith(vendor.url, keys), answer, sent });
  });
}

export function klingJob(upstreamModel: string, changes: Partial<UpstreamJob['order']> = {}): UpstreamJob {
  const order = { ...videoJob().order, resolution: '720p', audio: false, ...changes };
  return videoJob({ upstreamModel, order, credential: 'first', reference: 'task_1:2' });
}
