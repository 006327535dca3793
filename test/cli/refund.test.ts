// `npm run admin -- refund`: what a task was charged comes back once, and never more of it.
import { expect } from 'chai';
import { findViolations } from '../../db/ledger/invariants.ts';
import { createAdministrator } from '../support/administrators.ts';
import { runAdmin, type CommandOutcome } from '../support/command-line.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { IMAGE_CREDITS, orderImage, readAvailable } from '../support/tasks.ts';
import { untilFinal } from '../support/until.ts';

const GRANTED = 100;

describe('npm run admin -- refund', () => {
  let gateway: TestGateway;
  let user: TestUser;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    user = await gateway.createUser(GRANTED);
  });
  afterEach(async () => expect(await findViolations(gateway.em())).to.deep.equal([]));

  const run = (...args: string[]): Promise<CommandOutcome> => runAdmin(['refund', ...args], gateway.env);
  const makeImage = async (directive?: string): Promise<string> => {
    const { id } = await orderImage(user.session, directive);
    await untilFinal(user.session, id);
    return id;
  };
  const balance = async (): Promise<number> => (await readAvailable(user)).balance;

  it('gives back all that a task was charged, and tells its user why', async () => {
    const id = await makeImage();
    const { code, output, errors } = await run(id, 'all', 'The picture was grey');
    expect({ code, errors }).to.deep.equal({ code: 0, errors: '' });
    expect(output).to.match(
      new RegExp(
        `^refunded ${IMAGE_CREDITS} of ${id} to \\S+@\\S+: balance 100, available 100, entry led_\\w+\n$`,
      ),
    );
    const { body } = await user.session.get('/api/balance?includeLedger=1');
    const [entry] = body.data.ledger;
    expect(entry).to.include({ type: 'refund', amount: IMAGE_CREDITS, taskId: id });
    expect(entry).to.include({ balanceAfter: GRANTED, description: 'The picture was grey' });
  });

  it('is shown with the task, to its owner and to administrators', async () => {
    const chief = await createAdministrator(gateway, ['tasks.read']);
    const id = await makeImage();
    const readRefunded = async (): Promise<unknown[]> => {
      const own = await user.session.get(`/api/tasks/${id}`);
      const listed = await user.session.get('/api/tasks');
      const foreign = await chief.session.get(`/api/admin/tasks/${id}`);
      return [own.body.data, listed.body.data[0], foreign.body.data].map(
        ({ creditsCharged, creditsRefunded }) => [creditsCharged, creditsRefunded],
      );
    };
    const shown = (credits: number) => Array.from({ length: 3 }, () => [IMAGE_CREDITS, credits]);
    expect(await readRefunded()).to.deep.equal(shown(0));
    expect((await run(id, '1.5')).code).to.equal(0);
    expect(await readRefunded()).to.deep.equal(shown(1.5));
    expect((await run(id)).code).to.equal(0);
    expect(await readRefunded()).to.deep.equal(shown(IMAGE_CREDITS));
  });

  it('gives back a part, and then no more than what is left', async () => {
    const id = await makeImage();
    expect((await run(id, '1.5')).code).to.equal(0);
    expect(await balance()).to.equal(GRANTED - IMAGE_CREDITS + 1.5);
    const { code, output, errors } = await run(id, '3');
    expect({ code, output }).to.deep.equal({ code: 1, output: '' });
    expect(errors).to.equal(`Of the charge of ${id}, 2.5 credits are left to refund.\n`);
    expect((await run(id)).code).to.equal(0);
    expect(await balance()).to.equal(GRANTED);
    const other = await run(id, 'all', 'Another note');
    expect(other.errors).to.equal(`Of the charge of ${id}, 0 credits are left to refund.\n`);
  });

  it('gives back all that is left after a half of the same amount and note, once', async () => {
    const id = await makeImage();
    expect((await run(id, String(IMAGE_CREDITS / 2))).code).to.equal(0);
    expect((await run(id)).output).to.match(
      new RegExp(`^refunded ${IMAGE_CREDITS / 2} of ${id} to \\S+: balance`),
    );
    expect(await balance()).to.equal(GRANTED);
    const again = await run(id);
    expect(again.code).to.equal(0);
    expect(again.output).to.match(/^refunded all of \S+ to \S+ before, with this note: entry led_\w+\n$/);
    expect(await balance()).to.equal(GRANTED);
  });

  it('is one refund, one entry and one audit entry, however often it is sent, also at once', async () => {
    const chief = await createAdministrator(gateway, ['audit.read']);
    const id = await makeImage();
    const outcomes = await Promise.all([1, 2, 3].map(() => run(id, '1', 'Sorry')));
    const texts = outcomes.map(
      ({ output }) => /^refunded \S+ of \S+ to \S+( before)?/.exec(output)?.[1] ?? 'now',
    );
    expect(texts.sort()).to.deep.equal([' before', ' before', 'now']);
    expect(await balance()).to.equal(GRANTED - IMAGE_CREDITS + 1);
    const { body } = await chief.session.get(`/api/admin/audit-entries?target=${id}`);
    expect(body.data).to.have.length(1);
    expect(body.data[0]).to.deep.include({
      action: 'REFUND_TASK',
      target: { type: 'task', id },
      actor: null,
    });
    expect(body.data[0].detail).to.include({ credits: 1, note: 'Sorry' });
  });

  it('refuses a task that was not charged, or that there is not', async () => {
    const failed = await makeImage('seconds=0 outcome=fail');
    for (const id of [failed, 'task_none']) {
      const { code, errors } = await run(id);
      expect(code).to.equal(1);
      expect(errors).to.equal(`There is no task ${id} that was charged.\n`);
    }
    expect(await balance()).to.equal(GRANTED);
  });

  it('refuses what is no amount or no note, before it looks at the database', async () => {
    const nowhere = { ...gateway.env, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
    const refused = await Promise.all(
      [['0'], ['-1'], ['every'], ['1', ' ']].map((args) => runAdmin(['refund', 'task_x', ...args], nowhere)),
    );
    expect(refused.map(({ code }) => code)).to.deep.equal([1, 1, 1, 1]);
    expect(refused[0]?.errors).to.match(/is no amount of credits/);
    expect(refused[3]?.errors).to.equal('NOTE must have 1 to 200 characters.\n');
  });
});
