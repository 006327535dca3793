// Requests that Redis has counted at once go on some at a time, and users in rotation.
import { expect } from 'chai';
import { COUNTED_TURN_LIMITS } from '../../../api/http/turn-limits.ts';
import { createTurns } from '../../../api/http/turns.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';

const REQUESTS = COUNTED_TURN_LIMITS.beginsPerRoundMax * 3;

describe('requests that were counted', () => {
  let gateway: TestGateway;
  let flooder: TestUser;
  let neighbour: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_LIMIT_READ: '40/60' } });
    flooder = await gateway.createUser();
    neighbour = await gateway.createUser();
  });
  after(() => gateway.stop());

  const read = (user: TestUser) =>
    fetch(`${gateway.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${user.apiKey}` } });

  it('wait for their turn, those that are refused as well, and a neighbour passes their line', async () => {
    const { services } = gateway;
    const usual = services.countedTurns;
    const turns = createTurns({
      ...COUNTED_TURN_LIMITS,
      turnsMax: 1,
      lineMax: REQUESTS,
      linesMax: 2 * REQUESTS,
    });
    const end = turns.tryTake('the only turn');
    services.countedTurns = turns;
    const answered: string[] = [];
    const ask = async (user: TestUser, name: string): Promise<number> => {
      const { status } = await read(user);
      answered.push(name);
      return status;
    };
    const flood = Array.from({ length: REQUESTS }, () => ask(flooder, 'flooder'));
    await until('the flood waits', async () => turns.countWaiting() === REQUESTS);
    const beside = ask(neighbour, 'neighbour');
    await until('the neighbour waits', async () => turns.countWaiting() === REQUESTS + 1);
    services.countedTurns = usual;
    expect(answered).to.deep.equal([]);
    end?.();
    expect(await beside).to.equal(200);
    const statuses = await Promise.all(flood);
    expect(statuses.filter((status) => status === 200)).to.have.lengthOf(40);
    expect(statuses.filter((status) => status === 429)).to.have.lengthOf(REQUESTS - 40);
    expect(answered.indexOf('neighbour')).to.be.lessThan(REQUESTS);
    expect(turns.countWaiting()).to.equal(0);
  });
});
