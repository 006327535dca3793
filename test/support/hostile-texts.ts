// Texts that break what handles text carelessly. Each holds the canary, by which it is found where it must
// not be.

const LONG_LENGTH = 1_000_000;

/** Names and texts; `well-formed` tells whether a service may accept them at all. */
export function hostileTexts(canary: string): readonly (readonly [name: string, text: string])[] {
  const emoji = '\u{1F600}';
  return [
    ['half a character', `${canary}\ud83d`],
    ['the other half', `\ude00${canary}`],
    ['emoji that any cut at an even or odd place splits', `${canary}${emoji.repeat(300)}`],
    ['the same, shifted', `x${canary}${emoji.repeat(300)}`],
    ['NUL', `a\0${canary}`],
    ['line separators', `${canary}\u2028\u2029\u0085\r\n`],
    ['bidirectional controls', `\u202e${canary}\u2066\u2069\u200f`],
    ['control characters', `\u0001\u0008\u001b[31m${canary}\u007f\ufeff\uffff`],
    ['JSON in a text', JSON.stringify({ [canary]: [JSON.stringify({ error: { message: canary } })] })],
    ['an event of a stream', `${canary}"}\n\ndata: [DONE]\n\ndata: {"error":{"message":"x"}}\n\n`],
    ['names of prototypes', `__proto__ constructor ${canary} toString`],
    ['SQL', `'; drop table task; -- ${canary} $1 \\x00 ?`],
    ['HTML', `<script>alert("${canary}")</script>&amp;`],
    ['a format', `${canary} %s %n \${x} {{x}} %00 %ff`],
    ['combining marks', `${canary}${'e\u0301\u0336'.repeat(200)}`],
    ['64 KB that were quadratic to mask', `${canary} ${'[password='.repeat(6_400)}`],
    ['a megabyte', `${canary} ${'word '.repeat(LONG_LENGTH / 5)}`],
  ];
}

/** The items in an order that the seed decides (a linear congruential generator). */
export function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  let state = seed >>> 0;
  const next = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0);
  return items
    .map((item) => [next(), item] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, item]) => item);
}
