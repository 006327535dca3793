// Every finder, rule and view of masking is linear in texts made of any two of masking's own words.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { withoutEcho } from '../../../domain/masking/echo.ts';
import { PLACE_RULES, SPANNING_RULES, WINDOWS_PATHS } from '../../../domain/masking/error-rules.ts';
import { shorten } from '../../../domain/masking/error-text.ts';
import { cutAtWhiteSpace, cutLong, looksLikeJson } from '../../../domain/masking/length.ts';
import * as links from '../../../domain/masking/links.ts';
import {
  composeErrorMessage,
  maskErrorText,
  maskPayload,
  maskText,
} from '../../../domain/masking/masking.ts';
import { foldName, hidesValue } from '../../../domain/masking/names.ts';
import * as secrets from '../../../domain/masking/secrets.ts';
import { decodedView, joinedView, visibleView } from '../../../domain/masking/views.ts';
import { findSlowness } from '../../support/scaling.ts';

const SHOWN_MAX = 3;
const FOLDER = new URL('../../../domain/masking/', import.meta.url);
const SIGNS: readonly string[] = [
  ...'"\'`{}[]()<>\\/|.,:;?!@#$%^&*-_+=~ \n\t',
  ...['a', 'A', '7', 'x1', '猫', '🐱', '\u200b', '\x1b[', '\r\n', '\n\n', '\ue000'],
];
const PHRASES = [
  ...['://', 'https://', 'data:', 'data:,', 'data:image/png;base64,', '%41', '%25', '%e7%8c%ab', '\\u0041'],
  ...['eyJ', 'sk-', 'sk-svc_', 'password=', 'password: ', 'key="', "key='", 'Bearer ', 'Cookie: ', 'token:'],
  ...['-----BEGIN KEY', '-----END KEY-----', '[masked:url]', '[masked', 'a:b@', 'a@b.c', 'C:\\', '\\\\a\\'],
  ...[
    'SELECT a FROM ',
    'select a from b',
    ' at x (',
    'File "a", line 1',
    '127.0.0.1',
    '::1',
    'a.com',
    '/etc/',
  ],
  ...['{"a":', '{"password":"', '\\"', '[password=', '{key=', 'update a set b =', '\n   in ', 'x.ts:1:2'],
];
/** The words in the string and regular expression literals of the code itself, so that new ones are tried. */
const WORDS = [
  ...new Set(
    readdirSync(FOLDER)
      .flatMap((file) => readFileSync(new URL(file, FOLDER), 'utf8').split('\n'))
      .filter((line) => /['"`/]/.test(line) && !/^\s*(\/\/|\*|\/\*|import|export \{|\} from)/.test(line))
      .flatMap((line) => line.match(/[A-Za-z]{3,}/g) ?? []),
  ),
];

const finders = [...Object.values(links), ...Object.values(secrets)].filter(
  (member) => typeof member === 'function',
);
const rules = [...WINDOWS_PATHS, ...SPANNING_RULES, ...PLACE_RULES];
const PARTS: readonly (readonly [name: string, work: (text: string) => unknown])[] = [
  ...finders.map((find) => [find.name, find] as const),
  ...rules.map(
    ({ pattern, applies }) =>
      [
        `rule ${pattern.source.slice(0, 60)}`,
        (text: string) => text.replace(pattern, (match) => (applies?.(match) ? '' : match)),
      ] as const,
  ),
  ['visibleView', visibleView],
  ['decodedView', (text) => decodedView({ text, origins: null })],
  ['joinedView', (text) => joinedView({ text, origins: null })],
  ['cutLong', (text) => cutLong(text)],
  ['cutAtWhiteSpace', (text) => cutAtWhiteSpace(text, text.length - 1)],
  ['looksLikeJson', looksLikeJson],
  ['shorten', (text) => shorten(text, 500)],
  ['a name', (text) => hidesValue(foldName(text), text)],
];
const WHOLES: readonly (readonly [name: string, work: (text: string) => unknown])[] = [
  ['maskText', maskText],
  ['maskErrorText', maskErrorText],
  ['composeErrorMessage', (text) => composeErrorMessage('It failed.', text)],
  ['maskPayload', (note) => maskPayload({ note })],
  ['maskPayload with it as a name', (text) => maskPayload({ [text]: text })],
  ['maskPayload with it in JSON', (text) => maskPayload({ note: JSON.stringify({ a: text }) })],
  ['withoutEcho', (text) => withoutEcho(text, text.slice(1))],
];

describe('the time of masking', function () {
  this.timeout(600_000);
  const assignments = WORDS.map((word) => `${word}=`);
  const ownPairs = [
    ...[...SIGNS, ...PHRASES, ...WORDS, ...pairs(SIGNS, SIGNS), ...pairs(PHRASES, PHRASES)],
    ...[
      ...pairs(PHRASES, SIGNS),
      ...pairs(WORDS, [' ', '.', '/', ':', '-']),
      ...pairs(assignments, ['[', '"', '(']),
    ],
  ];

  for (const [name, work] of PARTS)
    it(`is linear for ${name}`, () => {
      expect(slowOnes(work, ownPairs)).to.deep.equal([]);
    });

  // The parts were tried with all of them.
  const someTexts = ownPairs.filter((_, index) => index % 23 === 0);
  for (const [name, work] of WHOLES)
    it(`is linear for ${name} as a whole`, () => {
      expect(slowOnes(work, [...SIGNS, ...PHRASES, ...someTexts])).to.deep.equal([]);
    });
});

/** Up to three pieces that are slow, with what was measured. */
function slowOnes(work: (text: string) => unknown, pieces: readonly string[]): string[] {
  const slow: string[] = [];
  for (const piece of pieces) {
    const measured = findSlowness(work, piece);
    if (measured !== null) slow.push(measured);
    if (slow.length === SHOWN_MAX) break;
  }
  return slow;
}

/** Each with each, in one order: a row of "ab" is a row of "ba" but for its ends. */
function pairs(some: readonly string[], others: readonly string[]): string[] {
  const all = some.flatMap((one, index) =>
    (some === others ? others.slice(index) : others).map((other) => one + other),
  );
  return [...new Set(all)].filter((piece) => piece !== '');
}
