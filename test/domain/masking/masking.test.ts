// Masking: each rule by example, then random payloads with planted secrets, then texts made to be slow.

import { expect } from 'chai';

import type { JsonValue } from '../../../domain/json.ts';
import {
  composeErrorMessage,
  maskErrorText,
  maskPayload,
  maskText,
} from '../../../domain/masking/masking.ts';

const OWN_KEY = `sk-svc_${'Ab3dEf6hIj'.repeat(5).slice(0, 49)}`;
const JWT = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${'dBjftJeZ4CVP'.repeat(3)}`;
const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEow'.repeat(10)}\nAbCd==\n-----END RSA PRIVATE KEY-----`;

const ZERO_WIDTH = '\u200b';
const spaceOut = (text: string): string => [...text].join(ZERO_WIDTH);
const escapeAll = (text: string): string => [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');

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

describe('harmless text', () => {
  const harmless = [
    'A cat in a hat, at 10:30, ratio 16:9, scale 1.5, version 1.2.3 of 2024-05-01T10:00:00.000Z',
    '一只猫坐在屋顶上：月光、薄雾，「电影感」，比例16:9，请保持人物一致。token：代币',
    'Basic shapes in blue, the bearer of bad news, BASIC INSTINCT, Basic 3D render, Bearer',
    'The token: a small coin. The secret: a love story. Authorization: a poem. Password: the movie. Key: C minor',
    '123e4567-e89b-12d3-a456-426614174000 task_01ABCDEFGHJKMNPQRSTVWXYZ0 req_0123456789abcdef',
    'd41d8cd98f00b204e9800998ecf8427e da39a3ee5e6b4b0d3255bfef95601890afd80709',
    'doubao-seedance-1-0-pro-250528 gpt-4o-mini-2024-07-18 sora-2-pro kling-v2-1-master wan2.2-t2v-plus veo-3.1',
    'sk-learn-compatible-estimators, task-1234567890abcdef1234, disk-0123456789abcdef0123456789, highp_float_precision_2',
    'sk-learn\nnumpy\npandas2\nscipy',
    '100% cotton, 50%20 off, C:\\new\\table, "quoted \\"words\\"", a\\b, 👩‍👩‍👧 family\u200b',
    'The data: a, b and c; metadata:x, starts with https:// and nothing else',
    `${'-'.repeat(300)}\n${'_'.repeat(300)}\n${'='.repeat(300)}`,
    'word '.repeat(5_000),
    '{"prompt": "a cat",\n  "size": [1, 2.50]}',
    '["an unfinished list',
    'in 4k@60fps, lodash@4.17.21, follow @someone, 12:30@home',
    '[masked:url] [masked] [masked:base64 200] [masked:data-uri image/png 12345]',
    'max_tokens=100, "max_tokens": 100, tokens=5',
    '',
  ];
  for (const text of harmless) {
    it(`stays as it is: ${text.slice(0, 50).replace(/\s/g, ' ')}`, () => {
      expect(maskPayload({ prompt: text, list: [text] })).to.deep.equal({ prompt: text, list: [text] });
      expect(maskText(text)).to.equal(text);
    });
  }
});

describe('masking a log message', () => {
  const cases: [string, string][] = [
    ['mail to alice.b+c@mail.example.com now', 'mail to [masked:email] now'],
    ['user=alice%40example.com', 'user=[masked:email]'],
    ['postgres://u:p@h/db failed', '[masked:url] failed'],
    ['Authorization: Bearer abc123def456', 'Authorization: Bearer [masked:token]'],
    ['Bearer Bearer abc123def456', 'Bearer Bearer [masked:token]'],
    ['Authorization: Token 9x8y7z6w5v4', 'Authorization: [masked]'],
    ['Cookie: a=b1c2d3; svc_session=zzz', 'Cookie: [masked]'],
    [`key ${OWN_KEY}\n${JWT}`, 'key [masked:token]'],
    ['Bearer [masked:token] stays', 'Bearer [masked:token] stays'],
    ['password=[masked]hunter2', 'password=[masked]'],
  ];
  for (const [text, masked] of cases) {
    it(`turns "${text.slice(0, 40)}" into "${masked.slice(0, 40)}"`, () => {
      expect(maskText(text)).to.equal(masked);
      expect(maskText(masked)).to.equal(masked);
    });
  }
});

describe('masking an error text of a vendor', () => {
  const cases: [string, string, string][] = [
    ['a plain reason', 'The image is too small: 10x10.', 'The image is too small: 10x10.'],
    [
      'a place in the request',
      "Invalid 'messages.0.content': too long",
      "Invalid 'messages.0.content': too long",
    ],
    ['a host', 'cannot reach ark.cn-beijing.volces.com:443 now', 'cannot reach [masked:host] now'],
    [
      'an internal host',
      'db01.internal refused; localhost:8080 too',
      '[masked:host] refused; [masked:host] too',
    ],
    ['a host that was looked up', 'getaddrinfo ENOTFOUND db-host', 'getaddrinfo ENOTFOUND [masked:host]'],
    [
      'IP addresses',
      'from 10.0.0.1:80 and fe80::1%eth0, [2001:db8::1]',
      'from [masked:ip] and [masked:ip], [[masked:ip]]',
    ],
    ['a mapped IP address', '::ffff:10.0.0.1 refused', '[masked:ip] refused'],
    ['times and ratios', 'at 12:30:45, 16:9, std::string', 'at 12:30:45, 16:9, std::string'],
    [
      'paths',
      'open /var/lib/app/x.json, ~/.ssh/id, /etc',
      'open [masked:path], [masked:path], [masked:path]',
    ],
    ['a Windows path', 'open C:\\Program Files\\new\\t.txt failed', 'open [masked:path] failed'],
    ['a relative path', 'in src/app/main.py:12 and server.js:1:2', 'in [masked:path] and [masked:path]'],
    ['an encoded path', 'no %2Fvar%2Flib%2Fx', 'no [masked:path]'],
    ['SQL', 'failed: SELECT a FROM users WHERE x = 1', 'failed: [masked:sql]'],
    ['SQL in lower case', 'insert into "users" ("a") values (1) - boom', '[masked:sql]'],
    ['words SQL shares with prose', 'Select a model from the list', 'Select a model from the list'],
    ['a stack', 'Boom\n    at fn (/srv/a.js:1:2)\n    at async /srv/b.js:3:4', 'Boom'],
    ['a stack of URLs', 'Boom\n  at fn (file:///srv/a.js:1:2)', 'Boom'],
    ['a stack in JSON', '{"e":"Boom\\n    at fn (/srv/a.js:1:2)"}', '{"e":"Boom "}'],
    [
      'a Python stack',
      'Traceback (most recent call last):\n  File "/a/b.py", line 3, in f\n    run(x)\nValueError: no',
      'ValueError: no',
    ],
    ['colours and controls', '\x1b[31mred\x1b[0m\x00 \u001b]0;t\x07and\r\n\tmore\u202e', 'red and more'],
    ['a bearer of any kind', 'Bearer swordfish was wrong', 'Bearer [masked:token] was wrong'],
    [
      'a Java stack',
      'java.lang.Error: no\n\tat com.a.B.c(B.java:12)\n\tat d.E.f(Native Method)',
      'java.lang.Error: no',
    ],
    ['a missing bearer', 'Invalid bearer token', 'Invalid bearer token'],
    ['an e-mail address', 'Key (email)=(a@b.com) exists, c@d.org', '[masked:sql] exists, [masked:email]'],
  ];
  for (const [what, text, masked] of cases) {
    it(`handles ${what}`, () => {
      expect(maskErrorText(text)).to.equal(masked);
      expect(maskErrorText(masked)).to.equal(masked);
    });
  }

  it('cuts at 500 characters after masking, between code points and not inside a marker', () => {
    const long = maskErrorText('👍'.repeat(600));
    expect(long.length).to.be.at.most(500);
    expect(long.isWellFormed()).to.equal(true);
    for (let length = 470; length < 500; length++) {
      const masked = maskErrorText(`${'ab '.repeat(200).slice(0, length)} ${OWN_KEY} and more of it`);
      expect(masked.length).to.be.at.most(500);
      expect(masked.replaceAll('[masked:token]', '')).to.not.match(/\[mas|sk-svc/);
    }
  });

  it('drops a secret whole that lies across the end of what is scanned', () => {
    for (let offset = 0; offset < 60; offset++) {
      const text = `${' '.repeat(65_536 - offset)}${OWN_KEY} end`;
      expect(maskErrorText(text)).to.not.contain(OWN_KEY.slice(7, 19));
    }
  });
});

describe('composing an error message', () => {
  it('adds what the provider says', () => {
    expect(composeErrorMessage('It failed.', 'no https://a.com')).to.equal(
      'It failed. Provider says: "no [masked:url]"',
    );
  });
  it('adds nothing when nothing is left', () => {
    for (const text of [null, '', ' \n', 'https://a.com', `${OWN_KEY}.`, '\x1b[0m']) {
      expect(composeErrorMessage('It failed.', text)).to.equal('It failed.');
    }
  });
  it('stays within 500 characters', () => {
    const message = composeErrorMessage('It failed.', 'word '.repeat(500));
    expect(message.length).to.be.at.most(500);
    expect(message).to.match(/…"$/);
    expect(composeErrorMessage('x'.repeat(600), 'y').length).to.be.at.most(500);
  });
});

describe('random payloads with planted secrets', () => {
  const SEEDS = 400;

  /** mulberry32: small, seeded, good enough to shuffle shapes. */
  function generator(seed: number): (below: number) => number {
    let state = seed;
    return (below) => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
    };
  }

  const WORDS = [
    'a',
    'cat',
    'on',
    '屋顶',
    'under',
    'the',
    'moon,',
    '16:9',
    'cinematic;',
    '"quoted"',
    "it's",
    '\n',
    '—',
  ];
  const NAMES = [
    'prompt',
    'image',
    'input',
    'metadata',
    'style',
    'content',
    'max_tokens',
    'seed',
    '文',
    'x-y',
  ];
  const PREFIXES = [
    'sk-svc_',
    'sk-',
    'sk-proj-',
    'ghp_',
    'hf_',
    'xai-',
    'glpat-',
    'whsec_',
    'gsk_',
    'github_pat_',
  ];
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

  function plant(random: (below: number) => number, canary: string): string {
    const words = (): string =>
      Array.from({ length: random(6) }, () => WORDS[random(WORDS.length)]).join(' ');
    const forms = [
      () => canary,
      () => `${words()} ${canary} ${words()}`,
      () => `https://cdn.example.com/${canary}/x.png?w=1`,
      () => `https://example.com/?next=${encodeURIComponent(`https://a.b/?token=${canary}`)}`,
      () => `${words()} ${encodeURIComponent(encodeURIComponent(`"${canary}"`))}`,
      () => escapeAll(canary),
      () => JSON.stringify({ deep: [{ value: canary }] }),
      () => JSON.stringify({ deep: JSON.stringify({ text: `${words()} ${canary}` }) }),
      () => `${words()} ${JSON.stringify({ password: canary })} ${words()}`,
      () => canary.toUpperCase(),
      () => canary.toLowerCase(),
      () => spaceOut(canary),
      () => encodeURIComponent(spaceOut(canary)),
      () => `${canary.slice(0, 15)}\n${canary.slice(15)}`,
      () => `Bearer ${canary}`,
      () => `{"a":"${words().replaceAll(/["\n]/g, '')}\\n${canary}"}`,
      () => `bob:${canary}@db.example.com`,
      () => `data:text/plain,${canary}`,
    ];
    return forms[random(forms.length)]?.() ?? canary;
  }

  function tree(random: (below: number) => number, depth: number, planted: string): JsonValue {
    const filler = (): JsonValue =>
      [random(1000), null, true, WORDS[random(WORDS.length)] ?? ''][random(4)] ?? null;
    if (depth === 0) return planted;
    const inner = tree(random, depth - 1, planted);
    if (random(2) === 0) return [filler(), inner, filler()];
    const name = NAMES[random(NAMES.length)] ?? 'a';
    return random(8) === 0
      ? { [planted]: inner }
      : { a: filler(), [name]: inner, [`z${random(9)}`]: filler() };
  }

  it(`show no 12 characters of any secret, in ${SEEDS} payloads, and stay the same when masked again`, () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = generator(seed);
      const secret = Array.from({ length: 40 }, () => ALPHABET.charAt(random(ALPHABET.length))).join('');
      const planted = plant(random, `${PREFIXES[random(PREFIXES.length)] ?? ''}${secret}`);
      const payload = tree(random, random(9), planted);
      const before = JSON.stringify(payload);
      const masked = maskPayload(payload);
      const seen = JSON.stringify(masked).replaceAll(ZERO_WIDTH, '').toLowerCase();
      let shown = '';
      for (let at = 0; at + 12 <= secret.length; at++) {
        const piece = secret.slice(at, at + 12);
        for (const form of [piece, escapeAll(piece)]) if (seen.includes(form.toLowerCase())) shown = form;
      }
      expect(shown, `seed ${seed}: ${before}`).to.equal('');
      expect(JSON.stringify(payload)).to.equal(before);
      expect(maskPayload(masked), `seed ${seed}`).to.deep.equal(masked);
      const line = maskText(planted);
      expect(maskText(line), `seed ${seed}`).to.equal(line);
    }
  });
});
