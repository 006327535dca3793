// The scaffolding of an adapter's tests: a stand-in for the vendor, the adapter in front of it, common
// expectations.
import { expect } from 'chai';
import type { Provider, UpstreamJob } from '../../providers/provider.ts';
import type { AdapterSettings } from '../../providers/settings.ts';
import {
  failureOf,
  sendJson,
  settingsAt,
  startStandIn,
  verdictOf,
  type Play,
  type Received,
  type StandIn,
} from './stand-in.ts';

export interface Vendor {
  readonly provider: Provider;
  /** How the stand-in answers the next requests; at first `200 {}`. */
  play: Play;
  /** Every request to the stand-in, in order. */
  readonly received: Received[];
  readonly url: string;
  /** How many sockets were opened. */
  connections(): number;
}

export interface Fixtures {
  create: (settings: AdapterSettings) => Provider;
  /** The path of the base URL; empty without one. */
  path?: string;
}

/** Describes one vendor's adapter; `tests` gets the vendor, which is started before the first of them. */
export function describeVendor(
  title: string,
  { create, path = '' }: Fixtures,
  tests: (vendor: Vendor) => void,
): void {
  describe(title, () => {
    let started: { standIn: StandIn; provider: Provider } | null = null;
    const running = () => {
      if (!started) throw new Error('the stand-in starts before the tests');
      return started;
    };
    const vendor: Vendor = {
      play: (res) => sendJson(res, 200, {}),
      get provider() {
        return running().provider;
      },
      get received() {
        return running().standIn.received;
      },
      get url() {
        return running().standIn.url;
      },
      connections: () => running().standIn.connections(),
    };

    before(async () => {
      const standIn = await startStandIn((res, req) => vendor.play(res, req));
      started = { standIn, provider: create(settingsAt(`${standIn.url}${path}`)) };
    });
    after(() => started?.standIn.close());
    tests(vendor);
  });
}

/** Adds a test per answer without an id, which is `invalid_response, unknown`: the job may be taken. */
export function itNeedsAnId(vendor: Vendor, job: UpstreamJob, answers: readonly unknown[]): void {
  for (const json of answers)
    it(`has no id in ${JSON.stringify(json)}`, async () => {
      vendor.play = (res) => sendJson(res, 200, json);
      const failure = await failureOf(vendor.provider.submit(job));
      expect(verdictOf(failure)).to.equal('invalid_response, unknown');
    });
}
