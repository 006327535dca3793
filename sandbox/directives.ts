/** The orders a prompt can hold, `[[sandbox key=value key=value*N]]`: how they are written and what they allow. */

/** The first value is the default. */
const CHOICES = {
  outcome: ['succeed', 'fail', 'moderated', 'stuck', 'expire', 'cancelled'],
  reason: ['internal', 'invalid', 'quota', 'concurrency', 'moderation'],
  text: ['plain', 'leaky'],
  submit: [
    'ok',
    '400',
    '401',
    '402',
    '403',
    '429',
    '500',
    '503',
    'hang',
    'reset',
    'accept_then_reset',
    'no_id',
    'html',
    'truncated',
  ],
  poll: ['ok', '500', '429', 'hang', 'html', 'weird', 'flap', 'regress', 'not_found'],
  cancel: ['ok', 'too_late', 'hang'],
  result: [
    'ok',
    '404',
    'html',
    'missing',
    'private',
    'redirect_private',
    'javascript',
    'slow',
    'endless',
    'truncated',
  ],
  usage: ['honest', 'missing', 'zero', 'negative', 'huge', 'text', 'triple'],
} as const;

/** Each number's largest value; `seconds` alone may have decimals. */
const NUMBERS = {
  seconds: 86_400,
  deliver: 100,
  tokens: 1_000_000,
  delay: 600_000,
  first: 600_000,
  die_after: 1_000_000,
  error_after: 1_000_000,
} as const;

export type ChoiceKey = keyof typeof CHOICES;
export type NumberKey = keyof typeof NUMBERS;
export type Choice<Key extends ChoiceKey> = (typeof CHOICES)[Key][number];

interface Written {
  readonly value: string;
  /** The value holds for this many requests. */
  readonly times: number;
}

export class DirectiveError extends Error {
  readonly key: string;

  constructor(key: string, message: string) {
    super(message);
    this.key = key;
  }
}

/** The orders as they stand for one request: those with `*N` may have run out. */
export class Orders {
  readonly #written: ReadonlyMap<string, Written>;
  readonly #ordinal: number;

  constructor(written: ReadonlyMap<string, Written>, ordinal: number) {
    this.#written = written;
    this.#ordinal = ordinal;
  }

  choose<Key extends ChoiceKey>(key: Key): Choice<Key> {
    return find<Choice<Key>>(CHOICES[key], this.#valueOf(key)) ?? CHOICES[key][0];
  }

  /** Undefined where nothing is ordered: each kind of job has its own default. */
  number(key: NumberKey): number | undefined {
    const value = this.#valueOf(key);
    return value === undefined ? undefined : Number(value);
  }

  #valueOf(key: string): string | undefined {
    const written = this.#written.get(key);
    return written !== undefined && this.#ordinal <= written.times ? written.value : undefined;
  }
}

/** All directives of one prompt. */
export class Directives {
  readonly #written: ReadonlyMap<string, Written>;

  constructor(written: ReadonlyMap<string, Written>) {
    this.#written = written;
  }

  /** `ordinal` is 1 for the first request of its kind with this prompt. */
  at(ordinal: number): Orders {
    return new Orders(this.#written, ordinal);
  }
}

/** Throws DirectiveError on a key or value that does not exist. */
export function readDirectives(prompt: string): Directives {
  const written = new Map<string, Written>();
  for (const block of prompt.matchAll(/\[\[sandbox\b([^\]]*)(\]\])?/g)) {
    if (block[2] === undefined) throw new DirectiveError('sandbox', 'The directive is not closed with ]].');
    for (const word of (block[1] ?? '').split(/\s+/)) {
      if (word !== '') readWord(word, written);
    }
  }
  return new Directives(written);
}

function readWord(word: string, written: Map<string, Written>): void {
  const parts = /^[^=]+=([^*]*)(?:\*([1-9]\d{0,8}))?$/.exec(word);
  const key = word.split('=')[0] ?? word;
  if (!isChoiceKey(key) && !isNumberKey(key)) {
    throw new DirectiveError(key, `Unknown sandbox directive: '${key}'.`);
  }
  const value = parts?.[1] ?? '';
  if (parts === null || !allows(key, value)) {
    throw new DirectiveError(key, `Invalid value for the sandbox directive '${key}': '${word}'.`);
  }
  written.set(key, { value, times: parts[2] === undefined ? Number.POSITIVE_INFINITY : Number(parts[2]) });
}

function allows(key: ChoiceKey | NumberKey, value: string): boolean {
  if (isChoiceKey(key)) return find<string>(CHOICES[key], value) !== undefined;
  const shape = key === 'seconds' ? /^\d{1,8}(\.\d{1,3})?$/ : /^\d{1,8}$/;
  return shape.test(value) && Number(value) <= NUMBERS[key];
}

function isChoiceKey(key: string): key is ChoiceKey {
  return Object.hasOwn(CHOICES, key);
}

function isNumberKey(key: string): key is NumberKey {
  return Object.hasOwn(NUMBERS, key);
}

function find<Value extends string>(values: readonly Value[], text: string | undefined): Value | undefined {
  return values.find((value) => value === text);
}
