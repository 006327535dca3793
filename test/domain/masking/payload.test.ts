// Masking a payload: every rule for names and texts by example, and the bounds of depth and size.
import { expect } from 'chai';
import type { JsonValue } from '../../../domain/json.ts';
import { maskPayload } from '../../../domain/masking/masking.ts';
import { escapeAll, JWT, OWN_KEY, PEM, spaceOut, ZERO_WIDTH } from './samples.ts';

describe('masking a payload', () => {
  const byName = [
    ...[
      'authorization',
      'Authorization',
      'cookie',
      'Set-Cookie',
      'api_key',
      'apiKey',
      'X-Api-Key',
      'key',
      'token',
    ],
    ...['access_token', 'refreshToken', 'id-token', 'secret', 'CLIENT_SECRET', 'password', 'passwd', 'pwd'],
    ...['credential', 'credentials', 'private_key', 'signature', 'sig', 'session', 'bearer', 'jwt'],
    ...[
      'openaiApiKey',
      'webhook_secret',
      'user_password',
      'proxy-authorization',
      'X-Amz-Signature',
      'csrf_token',
    ],
    ...['api%5Fkey', `pass${ZERO_WIDTH}word`],
  ];
  for (const name of byName) {
    it(`hides the value of "${name}", whatever its kind`, () => {
      for (const value of ['x', ['x'], { a: 'x' }]) {
        expect(maskPayload({ [name]: value })).to.deep.equal({ [name]: '[masked]' });
      }
    });
  }

  it('hides numbers too under a name that is certain', () => {
    expect(maskPayload({ password: 123456, user_password: 123456 })).to.deep.equal({
      password: '[masked]',
      user_password: '[masked]',
    });
  });

  it('leaves names alone that only sound like secrets', () => {
    const harmless = {
      max_tokens: 4096,
      max_completion_tokens: 100,
      prompt_tokens: '12',
      prompt_tokens_details: { cached_tokens: 0 },
      max_token: 7,
      tokenizer: 'cl100k',
      key_frames: ['start', 'end'],
      keyframes: 3,
      keyboard: 'piano',
      secretary: 'bird',
      has_password: false,
      time_signature: '3/4',
      prompt_cache_key: 'chat-7',
    };
    expect(maskPayload(harmless)).to.deep.equal(harmless);
  });

  const texts: [string, string, string][] = [
    ['a URL', 'https://cdn.example.com/a.png?sig=1', '[masked:url]'],
    ['a URL of any scheme', 's3://bucket/key', '[masked:url]'],
    ['a URL in a sentence', 'see https://a.com/x, or http://b.com.', 'see [masked:url], or [masked:url].'],
    ['a URL among CJK words', '请看https://a.com/x。然后', '请看[masked:url]。然后'],
    ['a URL with escaped slashes', 'at "https:\\/\\/a.com\\/x" now', 'at "[masked:url]" now'],
    ['an encoded URL', 'next=https%3A%2F%2Fa.com%2Fx rest', 'next=[masked:url] rest'],
    ['a URL after an empty scheme', '://https://a.com/secret', '://[masked:url]'],
    ['a data URI', `data:image/png;base64,${'A'.repeat(16460)}`, '[masked:data-uri image/png 12345]'],
    ['a padded data URI', 'data:text/plain;base64,aGVsbG8=', '[masked:data-uri text/plain 5]'],
    ['a data URI of text', 'data:image/svg+xml,<svg a="b c"/>', '[masked:data-uri image/svg+xml 14]'],
    [
      'a data URI in a sentence',
      'use data:image/gif;base64,R0lGODlh now',
      'use [masked:data-uri image/gif 6] now',
    ],
    ['a data URI without a type', 'data:,hello', '[masked:data-uri text/plain 5]'],
    ['a run of base64', `x ${'Ab1+'.repeat(50)} y`, 'x [masked:base64 200] y'],
    ['a run of hexadecimal', 'a1'.repeat(150), '[masked:base64 300]'],
    ['wrapped base64', `${`${'Ab1/'.repeat(19)}\n`.repeat(3)}QUI=`, '[masked:base64 232]'],
    ['our own key', `my key is ${OWN_KEY}, ok`, 'my key is [masked:token], ok'],
    ['our own key in upper case', OWN_KEY.toUpperCase(), '[masked:token]'],
    ['an encoded key', `a ${escapeAll(OWN_KEY)} b`, 'a [masked:token] b'],
    [
      'a twice encoded key',
      `a ${OWN_KEY.replace('_', '%255F').replace('-', '%252d')} b`,
      'a [masked:token] b',
    ],
    ['a key with zero-width characters', `a ${spaceOut(OWN_KEY)} b`, 'a [masked:token] b'],
    ['a key with a JSON escape', `a ${OWN_KEY.replace('-', '\\u002d')} b`, 'a [masked:token] b'],
    ['a key in colour', `${OWN_KEY.slice(0, 12)}\x1b[31m${OWN_KEY.slice(12)}`, '[masked:token]'],
    ['a key broken by a line end', `${OWN_KEY.slice(0, 20)}\n${OWN_KEY.slice(20)}`, '[masked:token]'],
    ['a JWT', `jot ${JWT} end`, 'jot [masked:token] end'],
    ['a key block', `before ${PEM} after`, 'before [masked:token] after'],
    ['a key block without end', PEM.slice(0, 60), '[masked:token]'],
    ['a session cookie', 'svc_session=abcdef; theme=dark', 'svc_session=[masked]; theme=dark'],
    ['a redeem code', 'SVC-A1B2C3-D4E5F6-G7H8J9-K0M1N2', '[masked:token]'],
    ['credentials in front of a host', 'root:hunter2@db.example.com:5432', '[masked:token]'],
    ['a bearer', 'Bearer abc123def456', 'Bearer [masked:token]'],
    ['a basic', 'basic dXNlcjpwYXNz', 'basic [masked:token]'],
    ['signed parameters', '/f?X-Amz-Signature=ab&w=1&sig=cd', '/f?X-Amz-Signature=[masked]&w=1&sig=[masked]'],
    ['an assignment', 'set password=swordfish please', 'set password=[masked] please'],
    ['JSON inside of prose', 'sent {"api_key": "a b", "n": 1}', 'sent {"api_key": "[masked]", "n": 1}'],
    ['JSON as a string', '{ "token": 5, "n": 1 }', '{"token":"[masked]","n":1}'],
    ['JSON as a string, twice', JSON.stringify('{"pwd":"x"}'), JSON.stringify('{"pwd":"[masked]"}')],
    ['a name given twice in JSON', `{"a":"${OWN_KEY}","a":1}`, '{"a":"[masked:token]","a":1}'],
  ];
  for (const prefix of [
    ...['sk-', 'sk-ant-', 'sk-proj-', 'gsk_', 'xai-', 'hf_', 'ghp_', 'gho_', 'ghs_', 'ghr_', 'github_pat_'],
    ...['glpat-', 'xoxb-', 'sk_live_', 'rk_live_', 'whsec_', 'AIza'],
  ]) {
    texts.push([`a token ${prefix}…`, `a ${prefix}${'aB3dE6gH9j'.repeat(4)} b`, 'a [masked:token] b']);
  }
  for (const prefix of ['AKIA', 'ASIA']) {
    texts.push([`a token ${prefix}…`, `a ${prefix}IOSFODNN7EXAMPLE b`, 'a [masked:token] b']);
  }
  for (const [what, text, masked] of texts) {
    it(`masks ${what}`, () => {
      expect(maskPayload({ note: [text] })).to.deep.equal({ note: [masked] });
      expect(maskPayload(masked)).to.equal(masked);
      expect(maskPayload({ [text]: 1 })).to.not.have.property(text);
    });
  }

  it('keeps values apart whose keys mask to the same', () => {
    expect(maskPayload({ 'https://a.com': 1, 'https://b.com': 2 })).to.deep.equal({
      '[masked:url]': 1,
      '[masked:url] 2': 2,
    });
  });

  it('numbers thousands of such keys in good time', () => {
    const payload = Object.fromEntries(
      Array.from({ length: 9_000 }, (_, index) => [`https://a.com/${index}`, index]),
    );
    const masked = maskPayload(payload);
    expect(Object.keys(masked ?? {})).to.have.length(9_000);
    expect(maskPayload(masked)).to.deep.equal(masked);
  });

  it('keeps a key named __proto__ a key', () => {
    const masked = maskPayload(JSON.parse('{"__proto__":{"token":"x"}}'));
    expect(JSON.stringify(masked)).to.equal('{"__proto__":{"token":"[masked]"}}');
  });

  it('goes 32 levels deep and no further, without failing', () => {
    const nest = (depth: number): JsonValue => {
      let value: JsonValue = 'core';
      for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
      return value;
    };
    expect(maskPayload(nest(32))).to.deep.equal(nest(32));
    const masked = maskPayload(nest(100_000));
    expect(JSON.stringify(masked)).to.contain('[masked:too-deep]').and.not.contain('core');
    expect(maskPayload(masked)).to.deep.equal(masked);
  });

  it('visits 10,000 nodes and no more', () => {
    const payload = {
      a: Array.from({ length: 9_000 }, () => 1),
      b: Array.from({ length: 9_000 }, () => 2),
      c: OWN_KEY,
    };
    const masked = maskPayload(payload);
    expect(JSON.stringify(masked).length).to.be.below(21_000);
    expect(masked).to.have.property('[masked:too-large]', '[masked:too-large]');
    expect(maskPayload(masked)).to.deep.equal(masked);
  });

  it('does not fail on cycles, nor on JSON nested deep inside a string', () => {
    const cycle: { [key: string]: JsonValue } = {};
    cycle['self'] = cycle;
    expect(JSON.stringify(maskPayload(cycle))).to.contain('[masked:too-deep]');
    const deep = `${'['.repeat(100_000)}"${OWN_KEY}"${']'.repeat(100_000)}`;
    expect(JSON.stringify(maskPayload(deep))).to.not.contain(OWN_KEY);
    let text = OWN_KEY;
    for (let level = 0; level < 12; level++) text = JSON.stringify([text]);
    expect(JSON.stringify(maskPayload(text))).to.not.contain(OWN_KEY.slice(0, 12));
  });
});
