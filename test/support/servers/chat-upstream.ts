// A gateway whose chat calls go to an upstream that the test plays, for all tests of one `describe`.
import type { ServerResponse } from 'node:http';
import { startStandIn, type StandIn } from '../../providers/stand-in.ts';
import { startGateway, type TestGateway, type TestUser } from './gateway.ts';

export interface PlayedChat {
  readonly gateway: TestGateway;
  readonly upstream: StandIn;
  /** A user of its own for each test. */
  readonly owner: TestUser;
  /** Answers a call that reached the upstream; to be set by each test. */
  play: (res: ServerResponse) => void;
}

/** Starts both before the tests, and checks the ledger after each. `env`: settings beside the usual ones. */
export function playChatUpstream(env: Record<string, string> = {}): PlayedChat {
  let upstream: StandIn;
  let gateway: TestGateway;
  let owner: TestUser;
  let play: PlayedChat['play'] = (res) => void res.destroy();

  before(async () => {
    upstream = await startStandIn((res) => play(res));
    gateway = await startGateway({ worker: false, env: { OPENAI_BASE_URL: `${upstream.url}/v1`, ...env } });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });
  beforeEach(async () => {
    owner = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());

  return {
    get gateway() {
      return gateway;
    },
    get upstream() {
      return upstream;
    },
    get owner() {
      return owner;
    },
    get play() {
      return play;
    },
    set play(next) {
      play = next;
    },
  };
}

/** Sends the head of a stream; its events follow. */
export function beginStream(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
}
