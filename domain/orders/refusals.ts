// The errors of an order that a model does not take, each naming the caller's own field.
import { GatewayError } from '../errors.ts';

export function invalidValue(param: string, message: string): GatewayError {
  return new GatewayError('invalid_value', { param, message });
}

export function notOffered(param: string): GatewayError {
  return invalidValue(param, `This model does not offer a choice of ${param}.`);
}
