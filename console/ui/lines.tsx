// Amounts line by line: what each is for, and how many credits it is.
import type { ComponentChildren } from 'preact';
import type { Estimate } from '../data/types.ts';
import { formatCount, formatCredits } from './format.ts';

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

export function PriceLines({ lines }: { lines: Estimate['breakdown'] | undefined }) {
  return lines?.map(({ item, quantity, credits }) => (
    <Line key={item} credits={credits}>
      {item} <span class="faint">× {formatCount(quantity)}</span>
    </Line>
  ));
}
