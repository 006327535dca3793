// The errors of an order that a model does not take, each naming the caller's own field.
import type { Model } from '../catalog/catalog.ts';
import { GatewayError } from '../errors.ts';

export function invalidValue(param: string, message: string): GatewayError {
  return new GatewayError('invalid_value', { param, message });
}

/** The error of a model that makes something else than the call orders. */
export function wrongKind({ id, kind }: Model, wanted: Model['kind']): GatewayError {
  const message = `${id} is a model for ${kind}; this call takes models for ${wanted}.`;
  return new GatewayError('model_not_supported', { param: 'model', message });
}

export function notOffered(param: string): GatewayError {
  return invalidValue(param, `This model does not offer a choice of ${param}.`);
}
