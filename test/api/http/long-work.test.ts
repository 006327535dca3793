// The work of long bodies takes turns: one at a time, each in a round of the event loop of its own.
import { expect } from 'chai';
import { LONG_BODY_BYTES, workInTurn, type LongWorkTurns } from '../../../api/http/long-work.ts';
import { LATE_WORK_TURN_LIMITS, LONG_WORK_TURN_LIMITS } from '../../../api/http/turn-limits.ts';
import { createTurns } from '../../../api/http/turns.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';

function createLongWorkTurns(limits: { waitMsMax?: number } = {}): LongWorkTurns {
  return {
    longWorkTurns: createTurns({ ...LONG_WORK_TURN_LIMITS, ...limits }),
    lateWorkTurns: createTurns(LATE_WORK_TURN_LIMITS),
  };
}

describe('the work of long bodies', () => {
  it('is done one after the other, users in rotation, and other work comes between', async () => {
    const turns = createLongWorkTurns();
    const done: string[] = [];
    const work = (userId: string, name: string) =>
      workInTurn(turns, userId, () => {
        done.push(name);
        setImmediate(() => done.push('between'));
      });
    await Promise.all([work('a', 'a1'), work('a', 'a2'), work('a', 'a3'), work('b', 'b1')]);
    expect(done.filter((name) => name !== 'between')).to.deep.equal(['a1', 'b1', 'a2', 'a3']);
    for (const [index, name] of done.slice(1).entries()) expect(name === 'between').to.equal(index % 2 === 0);
  });

  it('is done beside the others when its turn does not come in time, and ends its turn when it throws', async () => {
    const turns = createLongWorkTurns({ waitMsMax: 20 });
    const end = await turns.longWorkTurns.take('one', new AbortController().signal);
    if (typeof end === 'string') throw new Error(end);
    expect(await workInTurn(turns, 'another', () => 'done')).to.equal('done');
    end();
    const thrown = await workInTurn(turns, 'one', () => {
      throw new Error('broken');
    }).catch((error: unknown) => error);
    expect(thrown).to.be.an('error');
    expect(turns.longWorkTurns.tryTake('one')).to.be.a('function');
  });

  it('has a round of its own also when the turns of many do not come in time', async () => {
    const turns = createLongWorkTurns({ waitMsMax: 20 });
    const end = await turns.longWorkTurns.take('one', new AbortController().signal);
    if (typeof end === 'string') throw new Error(end);
    const rounds: number[] = [];
    let round = 0;
    const count = (): void => {
      round += 1;
      if (rounds.length < 20) setImmediate(count);
    };
    count();
    const work = () => workInTurn(turns, 'another', () => void rounds.push(round));
    await Promise.all(Array.from({ length: 20 }, work));
    end();
    // Two that are done in rounds one after the other may see the same count.
    for (const each of rounds) expect(rounds.filter((other) => other === each)).to.have.length.of.at.most(2);
  });
});

describe('a long body', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser();
  });
  after(() => gateway.stop());

  it('waits for its turn, and a short one of the same user does not', async () => {
    const { longWorkTurns } = gateway.services;
    const end = longWorkTurns.tryTake('another user');
    const order = { mode: 'image', model: 'gpt-image-2', prompt: 'a cat' };
    const long = owner.key.post('/v1/estimates', { ...order, pad: 'x'.repeat(LONG_BODY_BYTES) });
    await until('the long one waits', async () => longWorkTurns.countWaiting() === 1);
    expect((await owner.key.post('/v1/estimates', order)).status).to.equal(200);
    expect(longWorkTurns.countWaiting()).to.equal(1);
    end?.();
    expect((await long).status).to.equal(200);
  });
});
