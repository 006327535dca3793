// Amounts line by line: what each is for, and how many credits it is.
import type { ComponentChildren } from 'preact';
import type { Estimate } from '../data/types.ts';
import { formatCount, formatCredits } from './format.ts';

const MILLION = 1_000_000;

interface LineProps {
  children: ComponentChildren;
  credits: number | null | undefined;
  look?: string;
}

export function Line({ children, credits, look }: LineProps) {
  return (
    <div class={look}>
      <dt>{children}</dt>
      <dd>{formatCredits(credits)}</dd>
    </div>
  );
}

interface LinesProps {
  lines: Estimate['breakdown'] | undefined;
  billingMode: Estimate['billingMode'] | undefined;
}

/** The lines of a price. Tokens are priced by the million and shown one by one. */
export function PriceLines({ lines, billingMode }: LinesProps) {
  return lines?.map(({ item, quantity, credits }) => (
    <Line key={item} credits={credits}>
      {item}{' '}
      <span class="faint">
        × {formatCount(billingMode === 'per_token' ? Math.round(quantity * MILLION) : quantity)}
      </span>
    </Line>
  ));
}
