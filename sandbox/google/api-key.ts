// Checks the API key of the Gemini API, which is in a header or in the query.

import { refuse } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';
import { WRONG_KEY } from './error-format.ts';

/** Refuses a missing key with 403, and a wrong one as an invalid argument with 400, as Google does. */
export function requireGoogleKey(request: SandboxRequest): void {
  const header = request.req.headers['x-goog-api-key'];
  const key = (typeof header === 'string' ? header : '') || request.query.get('key');
  if (!key) {
    const message = "Method doesn't allow unregistered callers. Please use API Key to call this API.";
    refuse(request, 403, { message });
  }
  if (key.includes('invalid')) refuse(request, 400, { code: WRONG_KEY });
}
