// Names a caller's own field in an error, where the endpoint calls it otherwise than orders of ours do.
import { GatewayError } from '../../domain/errors.ts';

/**
 * Returns what waits for an order to be created and renames the field in its refusal. `nameOf` answers the
 * endpoint's name of a field of ours, or undefined where both have one name.
 */
export function renameFields(nameOf: (param: string) => string | undefined) {
  return async <Value>(creating: Promise<Value>): Promise<Value> => {
    try {
      return await creating;
    } catch (error) {
      if (!(error instanceof GatewayError) || error.param === null) throw error;
      const { code, extra, headers, cause, param: ours } = error;
      const param = nameOf(ours);
      if (param === undefined) throw error;
      const message = error.message.replaceAll(ours, param);
      throw new GatewayError(code, { param, message, extra, headers, cause });
    }
  };
}
