// docs/vendor-rules.md: the rules that the sandbox keeps for its vendors, and what each is known from.
import type { Rule } from '../sandbox/rule.ts';
import { RULES, rulesFor } from '../sandbox/rules.ts';

export const VENDOR_RULES_PAGE = 'docs/vendor-rules.md';
const UNPROVEN = '**unproven**';

export function composeVendorRulesPage(): string {
  return [
    '# Rules of the vendors',
    '',
    'What the sandbox takes and refuses in each vendor’s name, and how that is known; made by `npm run models` from the',
    'tables in `sandbox/`, do not edit. Where it says unproven, only the sandbox and our catalogue agree: a real call may',
    'be refused that passes every test here. `npm run models -- probe` asks the vendor.',
    '',
    ...Object.entries(RULES).flatMap(([vendor, rules]) => [
      `## ${vendor}`,
      '',
      '| about | models | rule | source |',
      '|---|---|---|---|',
      ...rules.map(describeRow),
      '',
    ]),
  ].join('\n');
}

/** The rules for a model that nothing proves, in one line; null where there are none. */
export function describeUnproven(upstreamModel: string): string | null {
  const unproven = rulesFor(upstreamModel).filter(({ source }) => source === null);
  return unproven.length === 0 ? null : unproven.map(({ about, text }) => `${about} (${text})`).join('; ');
}

function describeRow({ about, models, text, source }: Rule): string {
  const names = models.length === 0 ? 'all' : models.map((name) => `${name}…`).join(', ');
  return `| ${about} | ${names} | ${text} | ${source ?? UNPROVEN} |`;
}
