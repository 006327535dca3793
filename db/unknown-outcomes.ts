// Tells errors that leave open what became of a statement: it may stand although it was not acknowledged.

/**
 * The connection was cut, or the driver gave up waiting: PostgreSQL may have committed, or may commit yet.
 * Class 08 and 57P01 to 57P03 are codes of lost connections and of servers that stop.
 */
const CODES = /^(08...|57P0[123]|ECONNRESET|EPIPE|ETIMEDOUT)$/;
/** What `pg` says, which has no code of its own for it. */
const MESSAGES = /Connection terminated|Query read timeout/;

/** Whether it is unknown what became of the statement that failed with this error. */
export function isOutcomeUnknown(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return CODES.test(code) || MESSAGES.test(error.message);
}
