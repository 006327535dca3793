// Idempotency-Key: whatever costs or adds credits happens once per key, and its repeats are told what the
// first was told.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { createAdministrator, makeCode } from '../../support/administrators.ts';
import { readWholeDatabase } from '../../support/everything.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';
import {
  countEffects,
  expectReplayOf,
  isReplay,
  REPEATABLE,
  type Repeatable,
} from '../../support/http/repeatable.ts';
import { IMAGE_MODEL, uniqueWord } from '../../support/tasks.ts';
import { untilFinal } from '../../support/until.ts';

const IMAGES = '/v1/images/generations';
const CODES = '/api/admin/redeem-codes';
const PLENTY = '100000/60';

describe('an Idempotency-Key', () => {
  let gateway: TestGateway;
  let chief: TestUser;
  let owner: TestUser;

  before(async () => {
    const env = { SVC_LIMIT_CREATE: PLENTY, SVC_LIMIT_READ: PLENTY, SVC_LIMIT_AUTH: PLENTY };
    gateway = await startGateway({ env });
    gateway.services.guesses = { limit: (_kind, _guesser, judge) => judge() };
    chief = await createAdministrator(gateway);
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser(1_000);
  });
  afterEach(() => gateway.expectSoundMoney());

  const order = (prompt = 'a cat') => ({ model: IMAGE_MODEL, prompt: `${prompt} [[sandbox seconds=0]]` });
  const create = (key: string, prompt?: string, caller = owner.key): Promise<Answer> =>
    caller.post(IMAGES, order(prompt), { 'idempotency-key': key });
  const countKeys = async () => (await countEffects(gateway))['keys'];

  for (const [what, prepare] of Object.entries(REPEATABLE)) {
    describe(`for ${what}`, () => {
      let request: Repeatable;
      beforeEach(async () => {
        request = await prepare(gateway, chief);
      });

      it('makes the repeat answer what the first did, and do nothing', async () => {
        const first = await request.send('one');
        expect(first.status, JSON.stringify(first.body)).to.equal(request.status);
        const effects = await countEffects(gateway);
        expectReplayOf(first, await request.send('one'));
        expectReplayOf(first, await request.send('one'));
        expect(await countEffects(gateway)).to.deep.equal(effects);
      });

      it('refuses another content with 422', async () => {
        const first = await request.send('two');
        const effects = await countEffects(gateway);
        expectError(await request.send('two', 'other'), 422, 'idempotency_key_reused', 'Idempotency-Key');
        expect(await countEffects(gateway)).to.deep.equal(effects);
        expectReplayOf(first, await request.send('two'));
      });

      it('lets one of twenty through, and tells the others the same or to wait', async () => {
        const before = await countEffects(gateway);
        const answers = await Promise.all(Array.from({ length: 20 }, () => request.send('three')));
        const after = await countEffects(gateway);
        const firsts = answers.filter((answer) => answer.status === request.status && !isReplay(answer));
        expect(firsts).to.have.length(1);
        for (const answer of answers.filter((answer) => answer !== firsts[0])) {
          if (isReplay(answer)) continue;
          expectError(answer, 409, 'idempotency_in_progress');
          expect(answer.headers.get('retry-after')).to.equal('1');
          expect(answer.headers.get('x-should-retry')).to.equal('true');
        }
        expectReplayOf(firsts[0] as Answer, await request.send('three'));
        const grown = Object.keys(after).map((name) => Number(after[name]) - Number(before[name]));
        expect(Math.max(...grown), JSON.stringify(after)).to.equal(1);
      });
    });
  }

  it('leaves one reservation behind when twenty come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create('crowd')));
    const ids = new Set(answers.filter(({ status }) => status === 202).map(({ body }) => body.id));
    expect(ids.size).to.equal(1);
    await untilFinal(owner.session, [...ids][0]);
    const [row] = await gateway.em().execute<{ count: number }[]>(sql`
      select count(*)::int as count from task_attempt where user_id = ${owner.id}`);
    expect(row?.count).to.equal(1);
  });

  describe('as a text', () => {
    for (const [what, key] of [
      ['256 characters', 'k'.repeat(256)],
      ['a space inside', 'one two'],
      ['a letter beyond ASCII', 'clé'],
      ['a control character', 'a\tb'],
      ['nothing in it', ''],
    ] as const) {
      it(`is refused with ${what}`, async () => {
        const before = await countEffects(gateway);
        expectError(await create(key), 400, 'invalid_request', 'Idempotency-Key');
        expect(await countEffects(gateway)).to.deep.equal(before);
      });
    }

    it('may have 255 characters of any visible kind', async () => {
      const key = `!"#~${'k'.repeat(251)}`;
      expectReplayOf(await create(key), await create(key));
    });
  });

  it('changes nothing when it is absent', async () => {
    const keys = await countKeys();
    const [first, second] = [await owner.key.post(IMAGES, order()), await owner.key.post(IMAGES, order())];
    expect([first.status, second.status]).to.deep.equal([202, 202]);
    expect(first.body.id).not.to.equal(second.body.id);
    expect(await countKeys()).to.equal(keys);
  });

  it('is nothing to GET, HEAD, PATCH, DELETE and to a POST that moves no credits', async () => {
    const keys = await countKeys();
    const headers = { 'idempotency-key': 'not a key' };
    const { id } = await makeCode(chief);
    const task = await owner.session.post('/api/tasks', { mode: 'image', ...order() });
    const answers = [
      await owner.key.get('/v1/models', headers),
      await owner.key.send('HEAD', '/v1/models', { headers }),
      await chief.session.patch(`${CODES}/${id}`, undefined, headers),
      await owner.key.post('/v1/estimates', { mode: 'image', ...order() }, headers),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    const ended = await owner.session.delete(`/api/tasks/${task.body.data.id}`, headers);
    expect(ended.status).to.be.oneOf([200, 202, 409]);
    expect(answers.some(isReplay)).to.equal(false);
    expect(await countKeys()).to.equal(keys);
  });

  it('does not open a door: without a fresh proof a repeat is refused like the first', async () => {
    const headers = { 'idempotency-key': 'door' };
    const helper = await createAdministrator(gateway);
    await helper.session.post(CODES, { label: 'Door', credits: 1 }, headers);
    await gateway.em().execute(sql`update session set verified_until = now() where user_id = ${helper.id}`);
    const repeat = await helper.session.post(CODES, { label: 'Door', credits: 1 }, headers);
    expectError(repeat, 403, 'verification_required');
  });

  it('leaves neither key, prompt nor redeem code readable, and no code at all', async () => {
    const word = uniqueWord();
    await create(`key-${word}`, word);
    await owner.session.post(
      '/api/tasks',
      { mode: 'image', ...order(word) },
      { 'idempotency-key': `key-${word}` },
    );
    const made = await chief.session.post(CODES, { label: 'x', credits: 1 }, { 'idempotency-key': word });
    const { code } = made.body.data;
    await owner.session.post('/api/redeem', { code }, { 'idempotency-key': code });
    const compact = String(code).replaceAll('-', '').slice(3);
    const columns = await readWholeDatabase(gateway);
    expect(columns.get('idempotency_key.answer')).to.have.length.greaterThan(100);
    for (const [column, text] of columns) {
      for (const form of [
        code,
        compact,
        Buffer.from(code).toString('hex'),
        Buffer.from(compact).toString('hex'),
      ])
        expect(text.toUpperCase().includes(form.toUpperCase()), `the code in ${column}`).to.equal(false);
      for (const form of [word, Buffer.from(word).toString('hex')])
        expect(text.includes(form), `the prompt or key in ${column}`).to.equal(false);
    }
    const rows = await gateway.em().execute<{ id: string; secretKeyId: string; bytes: Uint8Array }[]>(sql`
      select id, answer_secret_key_id as "secretKeyId", answer as bytes from idempotency_key where answer is not null`);
    const opened = rows.map((row) => gateway.secrets.decrypt('answer', row.id, row)).join('\n');
    expect(opened).to.include(word); // the prompt, encrypted
    expect(opened).not.to.include(code).and.not.to.include(compact);
  });
});
