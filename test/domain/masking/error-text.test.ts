// Masking the error texts of vendors: each rule by example, the length, and the composed message.
import { expect } from 'chai';
import { composeErrorMessage, maskErrorText } from '../../../domain/masking/masking.ts';
import { OWN_KEY } from './samples.ts';

describe('masking an error text of a vendor', () => {
  const cases: [string, string, string][] = [
    ['a plain reason', 'The image is too small: 10x10.', 'The image is too small: 10x10.'],
    [
      'a place in the request',
      "Invalid 'messages.0.content': too long",
      "Invalid 'messages.0.content': too long",
    ],
    [
      'fields of the request',
      "Missing 'text.format.name', 'response_format.json_schema.schema', generationConfig.imageConfig.imageSize",
      "Missing 'text.format.name', 'response_format.json_schema.schema', generationConfig.imageConfig.imageSize",
    ],
    [
      'hosts that begin or end as fields do',
      'text.format.svc, input.queue.prod and db.content.name refused',
      '[masked:host], [masked:host] and [masked:host] refused',
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
