// How the Gemini API authenticates: an API key in a header of Google's own.
import type { AuthHeaders } from '../http/json-api.ts';
import type { Credential } from '../settings.ts';

export function authorizeByApiKey({ key }: Credential): AuthHeaders {
  return { 'x-goog-api-key': key };
}
