/** What a vendor says a job consumed, true or not. */

import type { Choice } from './directives.ts';

export interface Consumption {
  readonly [name: string]: number | Consumption;
}

export type Evidence = number | string | { readonly [name: string]: Evidence };

/** Undefined where the vendor says nothing at all. */
export function tellUsage(honest: Consumption, usage: Choice<'usage'>): Evidence | undefined {
  return usage === 'missing' ? undefined : tell(honest, usage);
}

function tell(honest: number | Consumption, usage: Exclude<Choice<'usage'>, 'missing'>): Evidence {
  if (typeof honest === 'number') return tellNumber(honest, usage);
  return Object.fromEntries(Object.entries(honest).map(([name, value]) => [name, tell(value, usage)]));
}

function tellNumber(honest: number, usage: Exclude<Choice<'usage'>, 'missing'>): number | string {
  switch (usage) {
    case 'honest':
      return honest;
    case 'zero':
      return 0;
    case 'negative':
      return honest === 0 ? -1 : -honest;
    case 'huge':
      // Beyond what a JavaScript number holds exactly, within what a vendor's 64 bits can say.
      return 9_000_000_000_000_000_000;
    case 'text':
      return 'plenty';
    case 'triple':
      return honest * 3;
  }
}
