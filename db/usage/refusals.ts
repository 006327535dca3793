// What the database does not compute of usage, told from its own failures.

/** There is no such time zone, or it takes longer than a statement may. */
export type UsageRefusal = 'unknown_timezone' | 'too_slow';

/** By SQLSTATE: invalid_parameter_value, query_canceled. */
const REFUSALS: Readonly<Record<string, UsageRefusal>> = { '22023': 'unknown_timezone', '57014': 'too_slow' };

/** The refusal that the error of a statement stands for. Throws any other error again. */
export function refusalOf(error: unknown): UsageRefusal {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : null;
  const refusal = REFUSALS[String(code)];
  if (refusal === undefined) throw error;
  return refusal;
}
