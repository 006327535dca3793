// Making, listing, reading and disabling redeem codes.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { makeId } from '../../../db/ids.ts';
import { createAdministrator, makeCode, readAudit } from '../../support/administrators.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';

const CODES = '/api/admin/redeem-codes';
const TEXT = /^SVC(-[0-9A-HJKMNP-TV-Z]{6}){4}$/;

describe('redeem codes for administrators', () => {
  let gateway: TestGateway;
  let chief: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    chief = await createAdministrator(gateway);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const make = (fields: object): Promise<Answer> =>
    chief.session.post(CODES, { label: 'Spring', credits: 10, ...fields });
  const read = async (id: string) => (await chief.session.get(`${CODES}/${id}`)).body.data;

  describe('POST', () => {
    it('answers the code, once, and writes who made it', async () => {
      const expiresAt = '2099-01-31T12:00:00+02:00';
      const { status, body, headers } = await chief.session.post(
        CODES,
        { label: '  Winter 2026 ', credits: 0.000001, maxUses: 1_000_000, expiresAt, perUserLimit: 2 },
        { 'user-agent': 'console test', 'x-request-id': 'making-1' },
      );
      expect(status).to.equal(201);
      expect(headers.get('cache-control')).to.equal('no-store');
      const { id, code } = body.data;
      expect(id).to.match(/^rdm_[0-9A-Z]{26}$/);
      expect(code).to.match(TEXT);
      expect(body.data).to.deep.equal({
        id,
        code,
        label: 'Winter 2026',
        credits: 0.000001,
        maxUses: 1_000_000,
        usedCount: 0,
        expiresAt: '2099-01-31T10:00:00.000Z',
        disabledAt: null,
      });
      const entries = (await chief.session.get('/api/admin/audit-entries?action=CREATE_REDEEM_CODE')).body
        .data;
      const [entry] = entries;
      expect(entry).to.deep.equal({
        id: entry.id,
        action: 'CREATE_REDEEM_CODE',
        actor: { id: chief.id, email: chief.email },
        target: { type: 'redeem_code', id },
        ip: '127.0.0.1',
        userAgent: 'console test',
        requestId: 'making-1',
        detail: {
          label: 'Winter 2026',
          credits: 0.000001,
          maxUses: 1_000_000,
          perUserLimit: 2,
          codeHint: code.slice(-4),
          expiresAt: '2099-01-31T10:00:00.000Z',
        },
        createdAt: entry.createdAt,
      });
      expect(await readAudit(gateway, id)).to.have.length(1);
    });

    it('has one use and no end unless told otherwise; null means the same', async () => {
      const plain = (await make({})).body.data;
      expect(plain).to.include({ maxUses: 1, expiresAt: null });
      const { status, body } = await make({ expiresAt: null, perUserLimit: null });
      expect(status).to.equal(201);
      expect(await read(body.data.id)).to.include({ perUserLimit: null, expiresAt: null });
    });

    const REFUSED: [field: string, values: unknown[]][] = [
      ['credits', [0, -1, '10', 0.0000001, 1e15, 10_000_000.000001, null, 10_000_001, true]],
      ['maxUses', [0, -1, 1.5, 1_000_001, '1', null, 1e15]],
      ['perUserLimit', [0, 1.5, 2, '1']],
      ['label', ['', '   ', 'x'.repeat(101), 5, null]],
      [
        'expiresAt',
        [
          'tomorrow',
          '1',
          '12/31/2027',
          '2027',
          '2099-02-30T00:00:00Z',
          '2099-01-01T00:00:00',
          '2099-01-01',
          '2020-01-01T00:00:00Z',
          4_070_908_800_000,
        ],
      ],
    ];
    for (const [field, values] of REFUSED)
      it(`refuses a wrong ${field}, and leaves nothing behind`, async () => {
        const before = await readAudit(gateway);
        for (const value of values) expectError(await make({ [field]: value }), 400, 'invalid_value', field);
        expect(await readAudit(gateway)).to.deep.equal(before);
      });

    it('refuses what is missing, unknown or no number at all', async () => {
      expectError(await chief.session.post(CODES, { credits: 1 }), 400, 'missing_field', 'label');
      expectError(await chief.session.post(CODES, { label: 'x' }), 400, 'missing_field', 'credits');
      expectError(await make({ code: 'SVC-MINE' }), 400, 'invalid_request', 'code');
      const huge = { body: '{"label":"x","credits":1e400}', headers: { 'content-type': 'application/json' } };
      expect((await chief.session.send('POST', CODES, huge)).status).to.equal(400);
      const replayed = await make({ label: '🎁'.repeat(100) });
      expect(replayed.status).to.equal(201);
    });
  });

  describe('PATCH', () => {
    it('disables once; again, nothing changes and nothing is written', async () => {
      const { id } = await makeCode(chief);
      const first = await chief.session.patch(`${CODES}/${id}`);
      expect(first.status).to.equal(200);
      expect(first.body.data).to.include({ id, status: 'disabled', usedCount: 0 });
      expect(first.body.data).not.to.have.any.keys('code', 'hash', 'codeHash');
      const again = await chief.session.patch(`${CODES}/${id}`, {});
      expect(again.status).to.equal(200);
      expect(again.body).to.deep.equal(first.body);
      const actions = (await readAudit(gateway, id)).map(({ action }) => action);
      expect(actions).to.deep.equal(['CREATE_REDEEM_CODE', 'DISABLE_REDEEM_CODE']);
    });

    it('writes one entry however many disable at once', async () => {
      const { id } = await makeCode(chief);
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => chief.session.patch(`${CODES}/${id}`)),
      );
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
      expect(new Set(answers.map(({ body }) => body.data.disabledAt)).size).to.equal(1);
      expect(await readAudit(gateway, id)).to.have.length(2);
    });

    it('knows no other codes', async () => {
      for (const id of [makeId('rdm'), 'rdm_x', makeId('usr'), '%00'])
        expectError(await chief.session.patch(`${CODES}/${id}`), 404, 'redeem_code_not_found');
    });
  });

  describe('GET', () => {
    it('lists newest first in pages, with the state of each and never a code', async () => {
      const made = [];
      for (const label of ['one', 'two', 'three', 'four'])
        made.push(await makeCode(chief, { label, maxUses: label === 'four' ? 1 : 2 }));
      const [one, two, three, four] = made;
      await chief.session.patch(`${CODES}/${one?.id}`);
      await gateway.em().execute(sql`update redeem_code set expires_at = now() where id = ${two?.id ?? ''}`);
      const owner = await gateway.createUser(0);
      for (const { code } of [three, four].flatMap((code) => code ?? []))
        await owner.session.post('/api/redeem', { code });
      const page = await chief.session.get(`${CODES}?limit=3`);
      expect(
        page.body.data.map((entry: object) => pick(entry, ['label', 'status', 'usedCount'])),
      ).to.deep.equal([
        { label: 'four', status: 'exhausted', usedCount: 1 },
        { label: 'three', status: 'active', usedCount: 1 },
        { label: 'two', status: 'expired', usedCount: 0 },
      ]);
      expect(page.body).to.include({ hasMore: true, nextCursor: two?.id });
      const next = await chief.session.get(`${CODES}?limit=1&cursor=${page.body.nextCursor}`);
      expect(next.body.data[0]).to.include({ id: one?.id, status: 'disabled', createdBy: chief.id });
      expect(next.body.data[0].codeHint).to.equal(one?.code.slice(-4));
      for (const { code } of made)
        expect(JSON.stringify([page.body, next.body])).not.to.contain(code.slice(4, 24));
      for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=abc', `cursor=${makeId('usr')}`])
        expectError(await chief.session.get(`${CODES}?${query}`), 400, 'invalid_value');
    });

    it('finds the codes of a batch, and those in one state', async () => {
      const label = 'Found again';
      const [active, disabled] = [await makeCode(chief, { label }), await makeCode(chief, { label })];
      await chief.session.patch(`${CODES}/${disabled.id}`);
      const find = async (query: string): Promise<string[]> => {
        const { body } = await chief.session.get(`${CODES}?label=${encodeURIComponent(label)}${query}`);
        return body.data.map(({ id }: { id: string }) => id);
      };
      expect(await find('')).to.deep.equal([disabled.id, active.id]);
      expect(await find('&status=active')).to.deep.equal([active.id]);
      expect(await find('&status=disabled')).to.deep.equal([disabled.id]);
      expect(await find('&status=exhausted')).to.deep.equal([]);
      expectError(await chief.session.get(`${CODES}?status=lost`), 400, 'invalid_value', 'status');
    });

    it('shows one code with its redemptions', async () => {
      const { id, code } = await makeCode(chief, { maxUses: 3, credits: 7 });
      const [first, second] = [await gateway.createUser(0), await gateway.createUser(0)];
      await first.session.post('/api/redeem', { code });
      await second.session.post('/api/redeem', { code });
      const { redemptions, ...entry } = await read(id);
      expect(entry).to.include({ id, usedCount: 2, status: 'active' });
      expect(
        redemptions.map(({ userId, credits }: { userId: string; credits: number }) => [userId, credits]),
      ).to.deep.equal([
        [second.id, 7],
        [first.id, 7],
      ]);
      expect(redemptions[0]).to.have.all.keys('id', 'userId', 'credits', 'createdAt');
      for (const unknown of [makeId('rdm'), 'x'])
        expectError(await chief.session.get(`${CODES}/${unknown}`), 404, 'redeem_code_not_found');
    });
  });
});

function pick(entry: object, names: string[]): object {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => names.includes(name)));
}
