// Rotating the key ring: what was encrypted is readable with the new key alone; hashes are counted.
import { randomBytes } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { rotateSecrets } from '../../db/key-rotation.ts';
import { decryptPrompts, decryptRequest } from '../../db/tasks/requests.ts';
import { startTotp } from '../../db/identity/second-factors.ts';
import { Secrets } from '../../db/secrets.ts';
import { createAdministrator, makeCode, readAudit } from '../support/administrators.ts';
import { startGateway, type TestGateway } from '../support/servers/gateway.ts';
import { IMAGE_MODEL } from '../support/tasks.ts';
import { makeWebhook } from '../support/webhooks.ts';
import { listOwnEndpoints, signingKeysOf } from '../../db/webhooks/endpoints.ts';

describe('rotating the key ring', () => {
  let gateway: TestGateway;
  const newer = { id: 'newer', bytes: randomBytes(32) };

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());

  it('encrypts everything again with the newest key and counts what hangs on the older', async () => {
    const [old] = gateway.config.keyRing;
    if (!old) throw new Error('the ring is empty');
    const chief = await createAdministrator(gateway);
    const owner = await gateway.createUser();
    await makeCode(chief);
    const tasks: string[] = [];
    for (const prompt of ['a cat', 'a dog']) {
      const order = { mode: 'image', model: IMAGE_MODEL, prompt };
      const { body } = await owner.session.post('/api/tasks', order, { 'idempotency-key': prompt.slice(2) });
      tasks.push(body.data.id);
    }
    const [first = '', second = ''] = tasks;
    await gateway.em().execute(sql`update task_request set body = null where task_id = ${second}`);
    const results = gateway.secrets.seal('result', `${first}:1`, '["somewhere"]');
    await gateway.em().execute(sql`
      insert into submission (task_id, attempt, state, results, results_secret_key_id)
      values (${first}, 1, 'accepted', ${results.bytes}::bytea, ${results.secretKeyId})`);
    await startTotp(gateway.em(), gateway.secrets, owner.id, 'JBSWY3DPEHPK3PXP');
    const hook = await makeWebhook(owner.session, { url: 'https://hooks.example.com/' });

    const { renewed, dependents } = await rotateSecrets(gateway.em(), [newer, old]);
    expect(renewed).to.deep.equal([
      { what: 'task requests', rows: 2 },
      { what: 'submission results', rows: 1 },
      { what: 'second factors', rows: 1 },
      { what: 'answers kept for repeats', rows: 2 },
      { what: 'webhook secrets', rows: 1 },
    ]);
    expect(dependents).to.deep.equal(
      [
        { what: 'API keys', rows: 2 },
        { what: 'redeem codes', rows: 1 },
        { what: 'sessions', rows: 2 },
      ].map((entry) => ({ secretKeyId: old.id, isInRing: true, ...entry })),
    );
    const alone = new Secrets([newer]);
    expect([...(await decryptPrompts(gateway.em(), alone, tasks)).values()]).to.have.members([
      'a cat',
      'a dog',
    ]);
    expect(await decryptRequest(gateway.em(), alone, first)).to.include({ prompt: 'a cat' });
    const [endpoint] = await listOwnEndpoints(gateway.em(), owner.id, { limit: 1, beforeId: null });
    if (!endpoint) throw new Error('there is no webhook');
    const keys = signingKeysOf(alone, endpoint, new Date()).map((key) => key.export().toString('base64'));
    expect(keys).to.deep.equal([hook.secret.replace('whsec_', '')]);
    const [stored] = await gateway.em().execute<{ results: Uint8Array; id: string; totp: Uint8Array }[]>(sql`
      select results, results_secret_key_id as id, totp_secret as totp from submission, app_user
      where app_user.id = ${owner.id}`);
    if (!stored) throw new Error('nothing is stored');
    const opened = [
      alone.decrypt('result', `${first}:1`, { secretKeyId: stored.id, bytes: stored.results }),
      alone.decrypt('totp', owner.id, { secretKeyId: newer.id, bytes: stored.totp }),
    ];
    expect(opened).to.deep.equal(['["somewhere"]', 'JBSWY3DPEHPK3PXP']);
    const answers = await gateway.em().execute<{ id: string; answer: Uint8Array }[]>(sql`
      select id, answer from idempotency_key order by id`);
    const told = answers.map(({ id, answer }) =>
      alone.decrypt('answer', id, { secretKeyId: newer.id, bytes: answer }),
    );
    expect(told.map((text) => JSON.parse(text).body.data.id)).to.deep.equal(tasks);

    const again = await rotateSecrets(gateway.em(), [newer, old]);
    expect(again.renewed.map(({ rows }) => rows)).to.deep.equal([0, 0, 0, 0, 0]);
    expect((await readAudit(gateway, newer.id)).map(({ action }) => action)).to.deep.equal([
      'ROTATE_SECRETS',
    ]);
  });

  it('passes over what cannot be read, and counts it', async () => {
    const owner = await gateway.createUser();
    const order = { mode: 'image', model: IMAGE_MODEL, prompt: 'a fish' };
    const { body } = await owner.session.post('/api/tasks', order);
    await gateway
      .em()
      .execute(sql`update task_request set prompt = '\\x00'::bytea where task_id = ${body.data.id}`);
    const [old] = gateway.config.keyRing;
    if (!old) throw new Error('the ring is empty');
    const { renewed, dependents } = await rotateSecrets(gateway.em(), [newer, old]);
    expect(renewed[0]).to.deep.equal({ what: 'task requests', rows: 0 });
    expect(dependents).to.deep.include({
      secretKeyId: old.id,
      isInRing: true,
      what: 'task requests',
      rows: 1,
    });
  });

  it('goes through more than one batch', async () => {
    const [old] = gateway.config.keyRing;
    if (!old) throw new Error('the ring is empty');
    await gateway.em().execute(sql`
      insert into submission (task_id, attempt, state) select task_id, n, 'ended'
      from (select min(task_id) as task_id from task_request) t, generate_series(2, 451) n`);
    const em = gateway.em();
    const rows = await em.execute<{ id: string; attempt: number }[]>(sql`
      select task_id as id, attempt from submission where attempt > 1`);
    for (const { id, attempt } of rows) {
      const sealed = gateway.secrets.seal('result', `${id}:${attempt}`, `${attempt}`);
      await em.execute(sql`
        update submission set results = ${sealed.bytes}::bytea, results_secret_key_id = ${sealed.secretKeyId}
        where task_id = ${id} and attempt = ${attempt}`);
    }
    const { renewed } = await rotateSecrets(gateway.em(), [newer, old]);
    expect(renewed[1]).to.deep.equal({ what: 'submission results', rows: 450 });
  });
});
