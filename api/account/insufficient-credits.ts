// Creates the error 402 of a task or call that the credits of an account do not cover.
import { toCredits, type MicroCredits } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';

/** `required`: the least that had to be set aside. `available`: what the account had at that moment. */
export function insufficientCredits(required: MicroCredits, available: MicroCredits): GatewayError {
  const extra = { required: toCredits(required), available: toCredits(available) };
  return new GatewayError('insufficient_credits', { extra });
}
