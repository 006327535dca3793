// A gateway with its worker, and Temporal as an operator sees it, for all tests of one `describe`.
import { openEngine, type TestEngine } from './engine.ts';
import { startGateway, type TestGateway, type TestGatewayOptions, type TestUser } from './gateway.ts';

export interface TestSystem {
  readonly gateway: TestGateway;
  readonly engine: TestEngine;
  /** A user of its own for each test, with 1,000 credits. */
  readonly owner: TestUser;
}

export interface TestSystemOptions extends TestGatewayOptions {
  /** `false` where tests rewrite rows, so that the ledger no longer adds up. */
  checksMoney?: boolean;
}

/** Starts all before the tests, and checks the ledger after each. */
export function startTestSystem({ checksMoney = true, ...options }: TestSystemOptions = {}): TestSystem {
  let gateway: TestGateway;
  let engine: TestEngine;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway(options);
    engine = await openEngine(gateway);
  });
  after(async () => {
    await engine.close();
    await gateway.stop();
  });
  beforeEach(async () => {
    owner = await gateway.createUser(1_000);
  });
  if (checksMoney) afterEach(() => gateway.expectSoundMoney());

  return {
    get gateway() {
      return gateway;
    },
    get engine() {
      return engine;
    },
    get owner() {
      return owner;
    },
  };
}
