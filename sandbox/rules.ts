// The rules that the sandbox keeps for its vendors, one table for each.

import { GOOGLE_RULES } from './google/rules.ts';
import { GROK_RULES } from './grok/rules.ts';
import { HAILUO_RULES } from './hailuo/rules.ts';
import { KLING_RULES } from './kling/rules.ts';
import { OPENAI_RULES } from './openai/rules.ts';
import type { Rule } from './rule.ts';
import { SEEDANCE_RULES } from './seedance/rules.ts';
import { VIDU_RULES } from './vidu/rules.ts';
import { WAN_RULES } from './wan/rules.ts';

/** By vendor. */
export const RULES: Readonly<Record<string, readonly Rule[]>> = {
  google: GOOGLE_RULES,
  grok: GROK_RULES,
  hailuo: HAILUO_RULES,
  kling: KLING_RULES,
  openai: OPENAI_RULES,
  seedance: SEEDANCE_RULES,
  vidu: VIDU_RULES,
  wan: WAN_RULES,
};

/** The rules for one model, by the name that its vendor gives it. */
export function rulesFor(model: string): Rule[] {
  // Seedance’s names begin with the country that sells them.
  const name = model.replace(/^(doubao|dreamina)-/, '');
  return Object.values(RULES).flatMap((rules) => {
    const named = rules.filter(({ models }) => models.some((beginning) => name.startsWith(beginning)));
    return named.length === 0 ? [] : [...named, ...rules.filter(({ models }) => models.length === 0)];
  });
}
