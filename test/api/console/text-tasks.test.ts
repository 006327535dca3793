// Text through the queue: a prompt or a conversation, the answer as a text, and only their owner reads
// either.
import { expect } from 'chai';
import { grantOnce } from '../../support/credits.ts';
import { parseCredits } from '../../../domain/credits.ts';
import { createAdministrator } from '../../support/administrators.ts';
import { CHAT_MODEL, INPUT_PRICE, OUTPUT_PRICE } from '../../support/chat.ts';
import { expectNoEffect } from '../../support/http/effects.ts';
import { readWholeDatabase } from '../../support/everything.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { readJournal } from '../../support/servers/sandbox.ts';
import { countCharges, readAvailable, uniqueWord } from '../../support/tasks.ts';
import { until, untilFinal, untilStatus } from '../../support/until.ts';

const TEXT = { mode: 'text', model: CHAT_MODEL };

describe('text tasks', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(1_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  async function order(fields: object): Promise<string> {
    const { status, body } = await owner.session.post('/api/tasks', { ...TEXT, ...fields });
    expect(status, JSON.stringify(body)).to.equal(202);
    return body.data.id;
  }

  it('a prompt: the answer, and a charge for its tokens', async () => {
    const prompt = `Say something. ${uniqueWord()} [[sandbox tokens=12]]`;
    const task = await untilFinal(owner.session, await order({ prompt, max_tokens: 100 }));
    expect(task).to.include({ mode: 'text', status: 'completed', progress: 100, outputUrl: null });
    expect(task.outputText.split(' ')).to.have.length(12);
    expect(task.outputs).to.deep.equal([]);
    expect(task.requestPayload).to.deep.equal({ ...TEXT, prompt, max_tokens: 100 });
    expect(task.creditsCharged).to.be.greaterThan(0).and.at.most(task.creditsEstimate);
    // The sandbox counts words: 5 of the prompt.
    expect(task.creditsCharged).to.be.closeTo(5 * INPUT_PRICE + 12 * OUTPUT_PRICE, 0.000_001);
    expect(await countCharges(gateway, task.id)).to.equal(1);
  });

  it('a conversation, as its owner wrote it', async () => {
    const messages = [
      { role: 'system', content: 'You are brief.' },
      {
        role: 'user',
        content: [{ type: 'text', text: `Say something. ${uniqueWord()} [[sandbox tokens=3]]` }],
      },
    ];
    const task = await untilFinal(owner.session, await order({ messages }));
    expect(task).to.include({ status: 'completed', outputText: 'the quick brown' });
    expect(task.requestPayload).to.deep.equal({ ...TEXT, messages });
    const { body } = await owner.session.get('/api/tasks?mode=text&limit=1');
    expect(body.data[0]).to.deep.equal(task);
  });

  it('an answer that reaches its limit is one, and costs no more than the limit', async () => {
    const task = await untilFinal(
      owner.session,
      await order({ prompt: '[[sandbox tokens=50]]', max_tokens: 5 }),
    );
    expect(task.outputText.split(' ')).to.have.length(5);
    expect(task.creditsCharged).to.be.at.most(task.creditsEstimate);
  });

  it('one whose vendor answers 500: failed without a charge, and no word of a broken connection', async () => {
    const task = await untilFinal(owner.session, await order({ prompt: '[[sandbox submit=500]]' }));
    expect(task).to.include({ status: 'failed', errorCode: 'upstream_outcome_unknown', creditsCharged: 0 });
    expect(task.errorMessage).to.match(/^No clear answer from the provider reached us .* Provider says: "/);
    expect(task.errorMessage).to.not.contain('connection');
  });

  describe('are refused', () => {
    const say = { messages: [{ role: 'user', content: 'x' }] };
    const link = [{ type: 'image_url', image_url: { url: 'http://169.254.169.254/' } }];
    const cases: [title: string, fields: object, code: string, param: string][] = [
      ['with neither prompt nor messages', {}, 'missing_field', 'prompt'],
      ['with both', { prompt: 'x', ...say }, 'conflicting_params', 'messages'],
      ['with an empty prompt', { prompt: ' ' }, 'invalid_value', 'prompt'],
      ['without a message', { messages: [] }, 'invalid_value', 'messages'],
      [
        'with an unknown role',
        { messages: [{ role: 'king', content: 'x' }] },
        'invalid_value',
        'messages[0].role',
      ],
      ['with max_tokens 0', { prompt: 'x', max_tokens: 0 }, 'invalid_value', 'max_tokens'],
      [
        'with more tokens than the model has',
        { prompt: 'x', max_tokens: 1e7 },
        'invalid_value',
        'max_tokens',
      ],
      ['with a field of another mode', { prompt: 'x', size: '1:1' }, 'invalid_request', 'size'],
      ['with a model for pictures', { prompt: 'x', model: 'gpt-image-2' }, 'model_not_supported', 'model'],
      [
        'with a picture inside of the network',
        { messages: [{ role: 'user', content: link }] },
        'url_not_allowed',
        'messages[0].content[0].image_url.url',
      ],
    ];
    for (const [title, fields, code, param] of cases)
      it(`${title}: 400 ${code}`, async () => {
        const post = () => owner.session.post('/api/tasks', { ...TEXT, ...fields });
        expectError(await expectNoEffect(gateway, post), 400, code, param);
      });

    it('with more than the credits cover: 402', async () => {
      const poor = await gateway.createUser('0.0001');
      expectError(
        await poor.session.post('/api/tasks', { ...TEXT, prompt: 'x' }),
        402,
        'insufficient_credits',
      );
    });
  });

  it('are estimated at the most they can cost, without effect', async () => {
    const body = { ...TEXT, prompt: 'word '.repeat(30), max_tokens: 1_000 };
    const ask = () => owner.session.post('/api/estimates', body);
    const { data } = (await expectNoEffect(gateway, ask)).body;
    expect(data.billingMode).to.equal('per_token');
    expect(data.creditsEstimate).to.be.at.least(1_000 * OUTPUT_PRICE + 30 * INPUT_PRICE);
    const lines = data.breakdown.map(({ item }: { item: string }) => item);
    expect(lines).to.deep.equal(['input tokens', 'output tokens']);
    const viaKey = await owner.key.post('/v1/estimates', body);
    expect(viaKey.body.data).to.deep.equal(data);
  });

  describe('without a limit', () => {
    const prompt = 'Say something. [[sandbox outcome=fail*1 reason=invalid]]';

    it('at once find room for each other, and leave half of the credits alone', async () => {
      // None of them ends before the last is created, and gives credits back.
      const user = await gateway.createUser(60);
      const answers = await Promise.all(
        Array.from({ length: 12 }, () =>
          user.session.post('/api/tasks', { ...TEXT, prompt: 'a [[sandbox seconds=600]]' }),
        ),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 202));
      const estimates = answers.map(({ body }) => body.data.creditsEstimate);
      estimates.sort((one, other) => other - one);
      expect(estimates[0], 'a quarter of the half').to.be.within(7.4, 7.5);
      expect(estimates[1]).to.be.within(5.6, 7.5);
      expect(estimates.reduce((sum, each) => sum + each, 0)).to.be.at.most(30);
      for (const { body } of answers) {
        await user.session.delete(`/api/tasks/${body.data.id}`);
        await untilFinal(user.session, body.data.id);
      }
    });

    it('are fitted to the credits anew by a retry, with one they keep it', async () => {
      const longest = 128_000 * OUTPUT_PRICE;
      for (const [fields, first, second] of [
        [{}, [7.4, 7.5], [longest, longest + 0.1]],
        [{ max_tokens: 200 }, [0.02, 0.03], [0.02, 0.03]],
      ] as const) {
        const user = await gateway.createUser(60);
        const body = { ...TEXT, prompt: `${uniqueWord()} ${prompt}`, ...fields };
        const { data } = (await user.session.post('/api/tasks', body)).body;
        expect(data.creditsEstimate).to.be.within(first[0], first[1]);
        await untilFinal(user.session, data.id);
        const more = { userId: user.id, amount: parseCredits(1_000), idempotencyKey: data.id };
        await grantOnce(gateway.em(), { ...more, description: 'More credits' });
        const retried = await user.session.post(`/api/tasks/${data.id}/retry`);
        expect(retried.body.data.creditsEstimate).to.be.within(second[0], second[1]);
        const task = await untilFinal(user.session, data.id);
        expect(task).to.include({ status: 'completed' });
        expect(task.creditsCharged).to.be.greaterThan(0).and.at.most(task.creditsEstimate);
      }
    });
  });

  it('that fail are masked and not charged, and a retry can bring the answer', async () => {
    const before = await readAvailable(owner);
    const id = await order({
      prompt: `${uniqueWord()} [[sandbox outcome=fail*1 reason=invalid text=leaky]]`,
    });
    const failed = await untilFinal(owner.session, id);
    expect(failed).to.include({ status: 'failed', creditsCharged: 0, outputText: null });
    expect(failed.errorMessage)
      .to.be.a('string')
      .and.not.match(/https?:\/\/|@|\/home|data:image|\d+\.\d+\.\d+/);
    expect(await readAvailable(owner)).to.include({ balance: before.balance, reserved: 0 });
    expect((await owner.session.post(`/api/tasks/${id}/retry`)).status).to.equal(202);
    const done = await untilFinal(owner.session, id);
    expect(done).to.include({ status: 'completed', attempt: 2, errorMessage: null });
    expect(done.outputText).to.be.a('string').that.is.not.empty;
    expect(await countCharges(gateway, id)).to.equal(1);
  });

  it('that a vendor will not answer fail with its reason', async () => {
    const task = await untilFinal(
      owner.session,
      await order({ prompt: '[[sandbox outcome=fail reason=moderation]]' }),
    );
    expect(task).to.include({ status: 'failed', errorCode: 'content_rejected', creditsCharged: 0 });
  });

  it('that are cancelled cost nothing, and leave the vendor at once', async () => {
    const word = uniqueWord();
    const id = await order({ prompt: `${word} [[sandbox seconds=600]]` });
    await until('the vendor works', async () => (await readJournal(gateway.sandboxUrl, word)).length > 0);
    await untilStatus(owner.session, id, 'in_progress');
    expect((await owner.session.delete(`/api/tasks/${id}`)).status).to.be.oneOf([200, 202]);
    expect(await untilFinal(owner.session, id)).to.include({ status: 'cancelled', creditsCharged: 0 });
    await until(
      'the vendor is left',
      async () => (await readJournal(gateway.sandboxUrl, word))[0]?.clientClosedAt,
    );
  });

  it('are nobody’s but their owner’s: neither in the database in clear, nor for administrators', async () => {
    const [secret, spoken] = [uniqueWord(), uniqueWord()];
    const one = await order({ prompt: `${secret} [[sandbox tokens=3]]` });
    const other = await order({ messages: [{ role: 'user', content: `${spoken} [[sandbox tokens=3]]` }] });
    for (const id of [one, other]) await untilFinal(owner.session, id);
    for (const [place, text] of await readWholeDatabase(gateway))
      for (const word of [secret, spoken]) expect(text.includes(word), place).to.equal(false);
    const administrator = await createAdministrator(gateway, ['tasks.read']);
    const { body } = await administrator.session.get('/api/admin/tasks?limit=2');
    for (const task of body.data) {
      expect([one, other]).to.include(task.id);
      expect(task).to.include({ prompt: '[masked]', requestPayload: '[masked]', outputText: '[masked]' });
    }
    expect(JSON.stringify(body)).not.to.match(new RegExp(`${secret}|${spoken}|quick brown`));
  });

  it('a field named messages in a body for a picture does no harm, where extras are ignored', async () => {
    const body = {
      model: 'gpt-image-2',
      prompt: 'a cat [[sandbox seconds=0]]',
      messages: [{ role: 'user', content: 'x' }],
    };
    const { status, body: created } = await owner.key.post('/v1/images/generations', body);
    expect(status).to.equal(202);
    const task = await untilFinal(owner.session, created.id);
    expect(task).to.include({ status: 'completed' });
    expect(task.requestPayload).to.deep.equal({ model: body.model, prompt: body.prompt });
    expect((await owner.session.get('/api/tasks')).status).to.equal(200);
  });
});
