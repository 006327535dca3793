// Masking random payloads with a planted secret: no part of the secret stays visible.
import { expect } from 'chai';
import type { JsonValue } from '../../../domain/json.ts';
import { maskPayload, maskText } from '../../../domain/masking/masking.ts';
import { escapeAll, spaceOut, ZERO_WIDTH } from './samples.ts';

describe('random payloads with planted secrets', () => {
  const SEEDS = 400;

  /** The generator mulberry32: small and seeded, so that a failing payload can be made again. */
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
