// The scaffolding of the tests of outbound calls: a stand-in for the vendor, and requests to it.
import type { UpstreamRequest } from '../../../providers/http/client.ts';
import { sendJson, startStandIn, type Play, type Received, type StandIn } from '../stand-in.ts';

export interface CalledVendor {
  /** How the stand-in answers the next requests; at first `200 {}`. */
  play: Play;
  /** Every request to the stand-in, in order. */
  readonly received: readonly Received[];
  readonly url: string;
  /** How many sockets were opened. */
  connections(): number;
  /** A request to the stand-in. */
  call(changes?: Partial<UpstreamRequest>): UpstreamRequest;
}

export function describeCalls(tests: (vendor: CalledVendor) => void): void {
  describe('a call to a vendor', () => {
    let standIn: StandIn | null = null;
    const running = (): StandIn => {
      if (!standIn) throw new Error('the stand-in starts before the tests');
      return standIn;
    };
    const vendor: CalledVendor = {
      play: (res) => sendJson(res, 200, {}),
      get received() {
        return running().received;
      },
      get url() {
        return running().url;
      },
      connections: () => running().connections(),
      call: (changes = {}) => ({
        method: 'POST',
        url: running().url,
        headers: {},
        body: '{}',
        timeoutMs: 2_000,
        bytesMax: 1_000_000,
        ...changes,
      }),
    };

    before(async () => {
      standIn = await startStandIn((res, req) => vendor.play(res, req));
    });
    after(() => standIn?.close());
    tests(vendor);
  });
}
