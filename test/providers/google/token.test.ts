// Access tokens of Google Cloud: how they are asked for, how long they are kept, and what failures mean.
import { generateKeyPairSync, verify } from 'node:crypto';
import { expect } from 'chai';
import { createTokenSource, type TokenSource } from '../../../providers/google/token.ts';
import { failureOf, sendJson, startStandIn, verdictOf, type Play, type StandIn } from '../stand-in.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

describe('access tokens of Google Cloud', () => {
  let standIn: StandIn;
  let tokens: TokenSource;
  let nowMs = 0;
  let play: Play;

  before(async () => {
    standIn = await startStandIn((res, req) => play(res, req));
  });
  after(() => standIn.close());
  beforeEach(() => {
    standIn.received.length = 0;
    nowMs = Date.parse('2026-11-20T12:00:00Z');
    tokens = createTokenSource(() => nowMs);
    let minted = 0;
    play = (res) => sendJson(res, 200, { access_token: `ya29.${(minted += 1)}`, expires_in: 3_599 });
  });

  const keyWith = (changes: object = {}): string =>
    JSON.stringify({
      type: 'service_account',
      project_id: 'p',
      private_key_id: 'k-1',
      private_key: PEM,
      client_email: 'svc@p.iam.gserviceaccount.com',
      token_uri: `${standIn.url}/token`,
      ...changes,
    });
  const ask = (key = keyWith()) => tokens.tokenFor({ id: 'default', key });

  it('are the key itself where that is no service account', async () => {
    expect(await ask('ya29.given')).to.equal('ya29.given');
    expect(standIn.received).to.deep.equal([]);
  });

  it('are exchanged for an assertion that the account’s key has signed', async () => {
    expect(await ask()).to.equal('ya29.1');
    const [{ method, path, headers, body } = { method: '', path: '', headers: {}, body: '' }] =
      standIn.received;
    expect([method, path]).to.deep.equal(['POST', '/token']);
    expect(headers['content-type']).to.equal('application/x-www-form-urlencoded');
    const form = new URLSearchParams(String(body));
    expect(form.get('grant_type')).to.equal('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const read = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
    expect(read(header)).to.deep.equal({ alg: 'RS256', typ: 'JWT', kid: 'k-1' });
    expect(read(claims)).to.deep.equal({
      iss: 'svc@p.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: `${standIn.url}/token`,
      iat: nowMs / 1000,
      exp: nowMs / 1000 + 3_600,
    });
    const signed = Buffer.from(`${header}.${claims}`);
    const isValid = verify('RSA-SHA256', signed, publicKey, Buffer.from(signature, 'base64url'));
    expect(isValid).to.equal(true);
  });

  it('are asked for once by many at the same time, and kept until shortly before they expire', async () => {
    expect(await Promise.all([ask(), ask(), ask()])).to.deep.equal(['ya29.1', 'ya29.1', 'ya29.1']);
    nowMs += 3_298_000;
    expect(await ask()).to.equal('ya29.1');
    nowMs += 2_000;
    expect(await ask()).to.equal('ya29.2');
  });

  it('are asked for anew once they were not believed', async () => {
    await ask();
    tokens.invalidate('default');
    expect(await ask()).to.equal('ya29.2');
  });

  it('are asked for anew after a failure', async () => {
    const good = play;
    play = (res) => void res.writeHead(503).end();
    expect(verdictOf(await failureOf(ask()))).to.equal('transient, not_received');
    play = good;
    expect(await ask()).to.equal('ya29.1');
  });

  const failures: [title: string, play: Play, verdict: string][] = [
    ['a refused account', (res) => sendJson(res, 400, { error: 'invalid_grant' }), 'auth, not_received'],
    [
      'an unknown account',
      (res) => sendJson(res, 401, { error: 'unauthorized_client' }),
      'auth, not_received',
    ],
    ['too many requests', (res) => sendJson(res, 429, {}), 'transient, not_received'],
    ['trouble at Google', (res) => sendJson(res, 500, {}), 'transient, not_received'],
    ['a page', (res) => void res.end('<html></html>'), 'transient, not_received'],
    ['an answer without a token', (res) => sendJson(res, 200, {}), 'transient, not_received'],
    ['a connection that breaks', (res) => void res.destroy(), 'transient, not_received'],
  ];
  for (const [title, broken, verdict] of failures)
    it(`fail as ${verdict} for ${title}: the work was not handed over`, async () => {
      play = broken;
      expect(verdictOf(await failureOf(ask()))).to.equal(verdict);
    });

  it('fail as auth, not_received for a key that is none, without a word of it', async () => {
    for (const key of ['{', '{}', keyWith({ private_key: 'secret words' }), keyWith({ client_email: 7 })]) {
      const failure = await failureOf(ask(key));
      expect(verdictOf(failure)).to.equal('auth, not_received');
      expect(`${failure.text} ${failure.stack} ${String(failure.cause)}`).not.to.contain('secret words');
    }
    expect(standIn.received).to.deep.equal([]);
  });
});
