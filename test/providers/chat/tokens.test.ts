// Counting tokens here: long texts by pieces from all over them, and pictures by their detail.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { countTokens as count } from 'gpt-tokenizer/encoding/o200k_base';
import { countPromptTokens, countTokens } from '../../../providers/chat/tokens.ts';
import { pngOfSize } from '../../support/inputs.ts';

const DENSE = 'q7#Zx9!Kv@3mW$';
/** Longer texts are not counted whole. */
const COUNTED_WHOLE_CHARACTERS = 200_000;
/** Some turns of counting on a busy machine; two hundred together take much longer. */
const ROUND_MS_MAX = 60;

const execute = promisify(execFile);
/** Ends the thread while it counts, and again when it has nothing to do. */
const DYING_THREAD = `
  import { countTokens } from '${new URL('../../../providers/chat/tokens.ts', import.meta.url).href}';
  import { once } from 'node:events';
  const [begun, usual] = [once(process, 'worker'), await countTokens('one two three '.repeat(1_000))];
  const [first] = await begun;
  const again = once(process, 'worker');
  const counted = countTokens('one two three '.repeat(1_000));
  await first.terminate();
  const [second] = await again;
  const tokens = await counted;
  await second.terminate();
  console.log(tokens === usual, await countTokens('one two three'));`;

describe('the count of a text’s tokens', () => {
  it('of a long text is close to the whole, wherever its dense parts stand, and the same each time', async () => {
    const spaces = ' '.repeat(COUNTED_WHOLE_CHARACTERS);
    const dense = DENSE.repeat(Math.ceil((4 * COUNTED_WHOLE_CHARACTERS) / DENSE.length));
    const part = dense.length / 200;
    const rhythm = (' '.repeat(part / 2) + dense.slice(0, part / 2)).repeat(200);
    for (const text of [spaces + dense, dense + spaces, spaces + rhythm]) {
      const tokens = await countTokens(text);
      expect(tokens / countWhole(text)).to.be.within(0.85, 1.15);
      expect(await countTokens(text)).to.equal(tokens);
    }
  });
});

describe('many counts at once', () => {
  it('of hostile texts leave rounds of the event loop short, and count as each alone', async () => {
    const texts = Array.from({ length: 200 }, (_, seed) => hostileText(seed + 1));
    const [first = ''] = texts;
    const alone = await countTokens(first);
    const rounds = measureRounds();
    const counts = await Promise.all(texts.map((text) => countTokens(text)));
    expect(rounds.longest()).to.be.below(ROUND_MS_MAX);
    expect(counts[0]).to.equal(alone);
    const last = texts.at(-1) ?? '';
    expect(counts.at(-1)).to.equal(await countTokens(last));
  });

  it('have turns: a short text is counted while hostile ones are', async () => {
    let counted = 0;
    const hostile = Array.from({ length: 50 }, async (_, seed) => {
      await countTokens(hostileText(seed).repeat(10));
      counted += 1;
    });
    expect(await countTokens('one two three')).to.equal(3);
    expect(counted).to.equal(0);
    await Promise.all(hostile);
  });
});

describe('the thread that counts', () => {
  it('fails no count when it dies, and lets its process end', async () => {
    const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', DYING_THREAD]);
    expect(stdout).to.equal('true 3\n');
  });
});

describe('the count of a prompt’s tokens', () => {
  it('has for a picture what its detail may have, and its size where the request holds it', async () => {
    const count = (content: object[]) => countPromptTokens({ messages: [{ role: 'user', content }] });
    const bare = await count([]);
    for (const [url, ofSize] of [
      ['https://a.b/c.png', 10_000],
      [pngOfSize(1, 1), 1_500],
      [pngOfSize(4_000, 3_000), 14_100],
      [pngOfSize(6_400, 4_800), 36_000],
    ] as const) {
      const details = ['low', 'high', 'original', 'auto', undefined];
      const counts = details.map((detail) => count([{ type: 'image_url', image_url: { url, detail } }]));
      const tokens = (await Promise.all(counts)).map((sum) => sum - bare);
      expect(tokens).to.deep.equal([640, 3_800, ofSize, ofSize, ofSize]);
    }
  });
});

/** Counts in pieces, as the tokenizer is slow on long runs without a space. */
function countWhole(text: string): number {
  return (text.match(/[^]{1,5000}/g) ?? []).reduce((sum, piece) => sum + count(piece), 0);
}

/** Letters without a space or an order, which the tokenizer merges slowly: three pieces, unlike any other. */
function hostileText(seed: number): string {
  const bytes = createHash('shake256', { outputLength: 2_800 }).update(String(seed)).digest();
  return Array.from(bytes, (byte) => String.fromCharCode(0x61 + (byte % 26))).join('');
}

/** Notes the processor time of the longest round of the event loop, in milliseconds, until asked for it. */
function measureRounds(): { longest(): number } {
  let longest = 0;
  let before = process.threadCpuUsage();
  let isOver = false;
  const note = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    longest = Math.max(longest, (user + system) / 1000);
    if (!isOver) setImmediate(note);
  };
  setImmediate(note);
  return {
    longest: () => {
      isOver = true;
      return longest;
    },
  };
}
