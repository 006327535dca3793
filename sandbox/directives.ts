// Directives in a prompt, `[[sandbox key=value key=value*N]]`: their syntax and their allowed values.

export type ChoiceKey = keyof typeof CHOICES;
export type NumberKey = keyof typeof NUMBERS;
export type Choice<Key extends ChoiceKey> = (typeof CHOICES)[Key][number];

/** Allowed values of each directive that is a choice; the first one is the default. */
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
    'nul_id',
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

/** Largest value of each directive that is a number; only `seconds` may have decimals. */
const NUMBERS = {
  seconds: 86_400,
  deliver: 100,
  tokens: 1_000_000,
  delay: 600_000,
  first: 600_000,
  die_after: 1_000_000,
  error_after: 1_000_000,
} as const;

interface Directive {
  readonly value: string;
  /** Number of requests for which the value holds; Infinity without `*N`. */
  readonly times: number;
}

export class DirectiveError extends Error {
  readonly key: string;

  constructor(key: string, message: string) {
    super(message);
    this.key = key;
  }
}

/** The directives in force for one request: those with `*N` may have run out. */
export class ActiveDirectives {
  readonly #directives: ReadonlyMap<string, Directive>;
  readonly #requestNumber: number;

  constructor(directives: ReadonlyMap<string, Directive>, requestNumber: number) {
    this.#directives = directives;
    this.#requestNumber = requestNumber;
  }

  choose<Key extends ChoiceKey>(key: Key): Choice<Key> {
    return find<Choice<Key>>(CHOICES[key], this.#valueOf(key)) ?? CHOICES[key][0];
  }

  /** Null without such a directive: each kind of job has a default of its own. */
  number(key: NumberKey): number | null {
    const value = this.#valueOf(key);
    return value === null ? null : Number(value);
  }

  #valueOf(key: string): string | null {
    const directive = this.#directives.get(key);
    return directive !== undefined && this.#requestNumber <= directive.times ? directive.value : null;
  }
}

/** All directives of one prompt. */
export class Directives {
  readonly #directives: ReadonlyMap<string, Directive>;

  constructor(directives: ReadonlyMap<string, Directive>) {
    this.#directives = directives;
  }

  /** `requestNumber` is 1 for the first request of its kind with this prompt. */
  at(requestNumber: number): ActiveDirectives {
    return new ActiveDirectives(this.#directives, requestNumber);
  }
}

/** Throws DirectiveError for an unknown key or value, and for a directive that is not closed. */
export function readDirectives(prompt: string): Directives {
  const directives = new Map<string, Directive>();
  for (const block of prompt.matchAll(/\[\[sandbox\b([^\]]*)(\]\])?/g)) {
    if (block[2] === undefined) throw new DirectiveError('sandbox', 'The directive is not closed with ]].');
    for (const word of (block[1] ?? '').split(/\s+/)) {
      if (word !== '') readWord(word, directives);
    }
  }
  return new Directives(directives);
}

function readWord(word: string, directives: Map<string, Directive>): void {
  const parts = /^[^=]+=([^*]*)(?:\*([1-9]\d{0,8}))?$/.exec(word);
  const key = word.split('=')[0] ?? word;
  if (!isChoiceKey(key) && !isNumberKey(key)) {
    throw new DirectiveError(key, `Unknown sandbox directive: '${key}'.`);
  }
  const value = parts?.[1] ?? '';
  if (parts === null || !allows(key, value)) {
    throw new DirectiveError(key, `Invalid value for the sandbox directive '${key}': '${word}'.`);
  }
  directives.set(key, { value, times: parts[2] === undefined ? Number.POSITIVE_INFINITY : Number(parts[2]) });
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

function find<Value extends string>(values: readonly Value[], text: string | null): Value | undefined {
  return values.find((value) => value === text);
}
