// The vendor's evidence of what a job consumed: true, or distorted by the directive `usage`.

import type { Choice } from './directives.ts';

export interface Consumption {
  readonly [name: string]: number | Consumption;
}

export type Evidence = number | string | { readonly [name: string]: Evidence };

/** Returns undefined, which JSON omits, where the vendor reports no usage at all. */
export function reportUsage(honest: Consumption, usage: Choice<'usage'>): Evidence | undefined {
  return usage === 'missing' ? undefined : distort(honest, usage);
}

function distort(honest: number | Consumption, usage: Exclude<Choice<'usage'>, 'missing'>): Evidence {
  if (typeof honest === 'number') return distortNumber(honest, usage);
  return Object.fromEntries(Object.entries(honest).map(([name, value]) => [name, distort(value, usage)]));
}

function distortNumber(honest: number, usage: Exclude<Choice<'usage'>, 'missing'>): number | string {
  switch (usage) {
    case 'honest':
      return honest;
    case 'zero':
      return 0;
    case 'negative':
      return honest === 0 ? -1 : -honest;
    case 'huge':
      // More than a JavaScript number holds exactly, less than the 64 bits of a vendor's number.
      return 9_000_000_000_000_000_000;
    case 'text':
      return 'plenty';
    case 'triple':
      return honest * 3;
  }
}
