// The two services that offer Veo: the paths of their requests and how they authenticate.
import { isVertexUrl } from '../../domain/catalog/vertex.ts';
import type { AuthHeaders, JsonApiRequest } from '../http/json-api.ts';
import type { Credential } from '../settings.ts';
import { authorizeByApiKey } from './api-key.ts';
import type { TokenSource } from './token.ts';

export interface VeoService {
  /** Kept in job handles, under `dialect`. */
  readonly name: 'gemini' | 'vertex';
  /** To which all paths are appended. */
  readonly baseUrl: string;
  submitPath(model: string): string;
  /** `operation`: its whole name. */
  pollRequest(operation: string, model: string): Pick<JsonApiRequest, 'method' | 'path' | 'json'>;
  authorize(credential: Credential): Promise<AuthHeaders>;
  /** Called when the vendor refused the last authorization. */
  invalidate(credentialId: string): void;
  /** Removes the operator's project from the vendor's text, since the masking cannot recognize it. */
  withoutProject(text: string): string;
}

/** The service that a base URL leads to (`isVertexUrl`). */
export function serviceAt(baseUrl: string, tokens: TokenSource): VeoService {
  return isVertexUrl(baseUrl) ? vertex(baseUrl, tokens) : geminiApi(baseUrl);
}

function geminiApi(baseUrl: string): VeoService {
  return {
    name: 'gemini',
    baseUrl,
    submitPath: (model) => `/models/${encodeURIComponent(model)}:predictLongRunning`,
    pollRequest: (operation) => ({ method: 'GET', path: `/${operation}` }),
    authorize: async (credential) => authorizeByApiKey(credential),
    invalidate: () => undefined,
    withoutProject: withoutProjectNumber,
  };
}

function vertex(baseUrl: string, tokens: TokenSource): VeoService {
  const project = /\/projects\/([^/]+)/.exec(baseUrl)?.[1] ?? '';
  const modelPath = (model: string): string => `/publishers/google/models/${encodeURIComponent(model)}`;
  return {
    name: 'vertex',
    baseUrl: baseUrl.replace(/\/publishers\/google$/, ''),
    submitPath: (model) => `${modelPath(model)}:predictLongRunning`,
    pollRequest: (operation, model) => ({
      method: 'POST',
      path: `${modelPath(model)}:fetchPredictOperation`,
      json: { operationName: operation },
    }),
    authorize: async (credential) => ({ authorization: `Bearer ${await tokens.tokenFor(credential)}` }),
    invalidate: (credentialId) => tokens.invalidate(credentialId),
    withoutProject: (text) => withoutProjectNumber(project === '' ? text : text.replaceAll(project, '…')),
  };
}

/** Google's messages also name a project by its number. */
function withoutProjectNumber(text: string): string {
  return text.replaceAll(/\b(projects?(?: number)?[ /:#]+)\d{5,}/gi, '$1…');
}
