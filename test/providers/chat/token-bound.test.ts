// The bound of a prompt's tokens: never below the tokenizer's count, whatever the text, and close for
// ordinary text.
import { expect } from 'chai';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { COMMON_CHARACTERS } from '../../../providers/chat/common-characters.ts';
import { maxPromptTokens, maxTokens } from '../../../providers/chat/token-bound.ts';
import { pngOfSize } from '../../support/inputs.ts';

const ORDINARY: Readonly<Record<string, string>> = {
  English:
    'The committee will publish its report on Tuesday, after months of work; nobody knows what it says. ',
  German: 'Die Kommission veröffentlicht ihren Bericht am Dienstag, obwohl niemand weiß, was darin steht. ',
  Russian: 'Комиссия опубликует свой доклад во вторник, хотя никто не знает, что в нём написано. ',
  Chinese: '委员会将在星期二发表报告,虽然没有人知道里面写了什么。',
  Japanese: '委員会は火曜日に報告書を発表しますが、何が書かれているか誰も知りません。',
  Korean: '위원회는 화요일에 보고서를 발표하지만 무엇이 쓰여 있는지 아무도 모른다. ',
  Hindi: 'समिति मंगलवार को अपनी रिपोर्ट प्रकाशित करेगी, हालांकि कोई नहीं जानता कि उसमें क्या है। ',
};
/** Reserved for a message beside its parts. */
const TOKENS_PER_MESSAGE = 8;
/** What may be reserved for each token of ordinary text. */
const CLOSE_FACTOR_MAX = 5;

const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  'control characters': [0x01, 0x1f],
  'signs of ASCII': [0x20, 0x40],
  'all of ASCII': [0x20, 0x7e],
  'Latin Extended': [0x100, 0x24f],
  'Greek and Cyrillic': [0x370, 0x52f],
  'Hebrew and Arabic': [0x590, 0x6ff],
  'scripts of India': [0x900, 0xdff],
  'Thai to Georgian': [0xe00, 0x10ff],
  'Ethiopic and Cherokee': [0x1200, 0x13ff],
  punctuation: [0x2000, 0x206f],
  'symbols and arrows': [0x2100, 0x27bf],
  'Kana and signs': [0x3000, 0x30ff],
  Han: [0x4e00, 0x9fff],
  Yi: [0xa000, 0xa48f],
  Hangul: [0xac00, 0xd7a3],
  'private use': [0xe000, 0xf8ff],
  'compatibility forms': [0xf900, 0xfffd],
  cuneiform: [0x12000, 0x123ff],
  hieroglyphs: [0x13000, 0x1342f],
  emoji: [0x1f300, 0x1faff],
  'rare Han': [0x20000, 0x2ebe0],
  tags: [0xe0020, 0xe007f],
  everything: [0x20, 0x10ffff],
};
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const TEXTS_PER_KIND = 40;

/** Mulberry32: the same texts in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = createRandom(7);
const below = (limit: number): number => Math.floor(random() * limit);
const pick = (characters: readonly string[]): string => characters[below(characters.length)] ?? '';
const many = (count: number, make: () => string): string => Array.from({ length: count }, make).join('');
const count = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });

function characterIn([from, to]: readonly [number, number]): string {
  const code = from + below(to - from + 1);
  return code >= 0xd800 && code <= 0xdfff ? 'x' : String.fromCodePoint(code);
}

function expectBound(text: string): void {
  const tokens = count(text);
  expect(maxTokens(text), JSON.stringify(text.slice(0, 60))).to.be.at.least(tokens);
}

describe('the bound of a text’s tokens', () => {
  for (const [name, range] of Object.entries(RANGES))
    it(`holds for ${name}, alone and within words`, () => {
      for (let text = 0; text < TEXTS_PER_KIND; text += 1) {
        expectBound(many(60, () => characterIn(range)));
        expectBound(many(30, () => `${characterIn(range)}${pick([...LETTERS, ' ', '\n', '.'])}`));
      }
    });

  it('holds for random letters, words, capitals, numbers and base64', () => {
    const small = [...LETTERS];
    const all = [...LETTERS, ...LETTERS.toUpperCase()];
    const base64 = [...all, ...'0123456789+/'];
    for (let text = 0; text < TEXTS_PER_KIND; text += 1) {
      expectBound(many(60, () => pick(small)));
      expectBound(many(60, () => pick(all)));
      expectBound(many(90, () => pick(base64)));
      expectBound(many(30, () => `${many(1 + below(4), () => pick(small))} `));
      expectBound(many(30, () => `${pick(all)}${pick(['.', '1', ' ', '-'])}`));
    }
  });

  it('holds for every pair of letters, repeated', () => {
    const letters = [...LETTERS, ...LETTERS.toUpperCase()];
    for (const one of letters)
      for (const other of letters) {
        expectBound(`${one}${other}`.repeat(8));
        expectBound(` ${one}${other}`.repeat(4));
      }
  });

  it('holds for any mixture of common characters', () => {
    const common = [...COMMON_CHARACTERS.join('')];
    for (let text = 0; text < 10 * TEXTS_PER_KIND; text += 1) expectBound(many(40, () => pick(common)));
  });

  it('knows only characters that are one token each', () => {
    const longer = [...COMMON_CHARACTERS.join('')].filter((character) => count(character) !== 1);
    expect(longer).to.deep.equal([]);
  });

  for (const [language, text] of Object.entries(ORDINARY))
    it(`is close for ${language}`, () => {
      expect(maxTokens(text) / count(text)).to.be.within(1, CLOSE_FACTOR_MAX);
    });

  it('is of the text as a whole, however long it is', () => {
    const letters = 65_538; // two beyond the first part that is looked at
    expect(maxTokens('a'.repeat(letters))).to.equal((letters * 2) / 3);
    const scripts = maxTokens('é漢');
    const spaces = 65_535;
    expect(maxTokens(`${' '.repeat(spaces)}é漢`)).to.equal(spaces + scripts);
  });

  it('takes milliseconds for a megabyte, whatever texts came before', () => {
    for (const short of ['Latin 1: é', 'Han: 漢', 'cut'.slice(1)]) maxTokens(short);
    const text = (ORDINARY['English'] ?? '').repeat(10_000);
    const times = Array.from({ length: 5 }, () => {
      const before = process.threadCpuUsage();
      maxTokens(text);
      return process.threadCpuUsage(before).user / 1000;
    });
    expect(Math.min(...times)).to.be.below(30);
  });
});

describe('the bound of a prompt’s tokens', () => {
  const DETAILS = ['low', 'high', 'original', 'auto', undefined] as const;
  const boundsOf = (url: string): number[] =>
    DETAILS.map((detail) => {
      const content = [{ type: 'image_url', image_url: { url, detail } }];
      return maxPromptTokens({ messages: [{ role: 'user', content }] }) - TOKENS_PER_MESSAGE;
    });

  it('has the most that a picture of each detail can have, if its size is unknown', () => {
    for (const url of ['https://a.b/c.png', `data:image/png;base64,${'A'.repeat(400)}`])
      expect(boundsOf(url)).to.deep.equal([640, 3_800, 36_000, 36_000, 36_000]);
  });

  it('has 1.2 tokens for each patch of 32 pixels of a picture in the request, and no less than 10,000', () => {
    const ofSize = (width: number, height: number): number[] => boundsOf(pngOfSize(width, height));
    expect(ofSize(4_000, 3_000)).to.deep.equal([640, 3_800, 14_100, 14_100, 14_100]);
    expect(ofSize(4_001, 3_009)).to.deep.equal([640, 3_800, 14_364, 14_364, 14_364]);
    expect(ofSize(1, 1)).to.deep.equal([640, 3_800, 10_000, 10_000, 10_000]);
    // More than the vendor takes: of what another upstream would bill for it, nothing is left out.
    expect(ofSize(9_000, 6_000)).to.deep.equal([640, 3_800, 63_620, 63_620, 63_620]);
  });

  it('has a picture that is given as its URL alone', () => {
    const content = [{ type: 'image_url', image_url: pngOfSize(4_000, 3_000) }];
    expect(maxPromptTokens({ messages: [{ role: 'user', content }] })).to.equal(14_108);
  });

  it('has calls and annotations in it as their JSON: no picture, no file, no name is left out', () => {
    const url = 'words '.repeat(1_000);
    const members = { image_url: { url, detail: 'low' }, file: { id: 'a' }, type: url, [url]: 7 };
    const boundOf = (fields: object): number =>
      maxPromptTokens({ messages: [{ role: 'assistant', ...fields }] }) - TOKENS_PER_MESSAGE;
    for (const name of ['tool_calls', 'function_call', 'annotations']) {
      expect(boundOf({ [name]: [members] }), name).to.equal(maxTokens(JSON.stringify([members])));
      expect(boundOf({ [name]: null }), name).to.equal(0);
    }
  });

  const TEXT = 'words '.repeat(1_000);
  const NUMBERS = Array.from({ length: 1_000 }, (_, index) => index);
  const PART = { type: 'text', text: 'hi' };
  const IMAGE = { url: 'https://a.b/c.png', detail: 'low' };
  const ofPart = (part: object): object => ({ messages: [{ role: 'user', content: [part] }] });
  const ofItem = (item: object): object => ({ input: [item] });
  const PLACES: Readonly<Record<string, (fields: object) => object>> = {
    'the request': (fields) => ({ messages: [], ...fields }),
    'a message': (fields) => ({ messages: [{ role: 'user', content: 'hi', ...fields }] }),
    'a part of text': (fields) => ofPart({ ...PART, ...fields }),
    'a picture': (fields) => ofPart({ type: 'image_url', image_url: { ...IMAGE, ...fields } }),
    'an item of Responses': (fields) => ofItem({ type: 'reasoning', status: 'completed', ...fields }),
    'its part': (fields) =>
      ofItem({ role: 'user', content: [{ type: 'input_text', text: 'hi', ...fields }] }),
  };
  for (const [place, put] of Object.entries(PLACES))
    it(`has every unknown field of ${place} in it as its JSON, whatever it holds`, () => {
      const bare = maxPromptTokens({ ...put({}) });
      for (const value of [TEXT, NUMBERS, { type: TEXT }, { role: [{ file: TEXT }] }, 7, true, null])
        for (const name of ['foo', TEXT]) {
          const fields = { [name]: value };
          const added = maxPromptTokens({ ...put(fields) }) - bare;
          expect(added, name.slice(0, 5)).to.equal(maxTokens(JSON.stringify(fields)));
        }
    });

  it('has roles and types that are no words of the form in it', () => {
    const bare = maxPromptTokens({ messages: [{ role: 'user' }] });
    for (const fields of [{ role: TEXT }, { role: 'user', type: TEXT }, { role: 'user', status: NUMBERS }])
      expect(maxPromptTokens({ messages: [fields] }) - bare).to.be.at.least(NUMBERS.length);
  });

  it('has no settings in it, unless one is longer than any that vendors take', () => {
    const bare = maxPromptTokens({ messages: [] });
    const settings = {
      ...{
        model: 'a',
        n: 1,
        max_tokens: 9,
        temperature: 0.5,
        seed: 7,
        stop: ['\n\n', 'END'],
        logprobs: true,
      },
      ...{ stream: true, stream_options: { include_usage: true }, user: 'u', metadata: { order: '7' } },
      ...{ reasoning_effort: 'low', reasoning: { effort: 'low' }, store: false, include: [], top_p: 1 },
    };
    expect(maxPromptTokens({ messages: [], ...settings })).to.equal(bare);
    for (const name of Object.keys(settings))
      expect(maxPromptTokens({ messages: [], [name]: TEXT.repeat(2) }) - bare, name).to.be.above(4_000);
  });

  it('has a token for each place where two parts of a message meet', () => {
    const boundOf = (parts: number): number =>
      maxPromptTokens({ messages: [{ role: 'user', content: Array.from({ length: parts }, () => PART) }] });
    expect(boundOf(1_000)).to.equal(boundOf(1) + 999 * (maxTokens('hi') + 1));
  });

  it('has a part of a kind that is not known in it as a file', () => {
    expect(maxPromptTokens({ ...ofPart({ type: 'file', file: { file_id: 'a' } }) })).to.be.above(10_000_000);
  });

  it('has tools, functions and formats in it', () => {
    const bare = maxPromptTokens({ messages: [] });
    for (const name of ['tools', 'functions', 'response_format', 'prediction'])
      expect(maxPromptTokens({ messages: [], [name]: { a: 'some words' } })).to.be.above(bare);
  });
});
