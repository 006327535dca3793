// The two services where Veo can be had: how each is reached, and how it knows its customers.
import type { JsonValue } from '../../domain/json.ts';
import type { TokenSource } from './token.ts';
import type { Credential } from '../settings.ts';

export interface VeoService {
  /** Stands in job handles. */
  readonly name: 'gemini' | 'vertex';
  submitUrl(model: string): string;
  /** `operation`: its whole name. */
  pollRequest(
    operation: string,
    model: string,
  ): { method: 'GET' | 'POST'; url: string; body?: Record<string, JsonValue> };
  /** Headers that prove who is calling. */
  authorize(credential: Credential): Promise<Readonly<Record<string, string>>>;
  /** The last proof was not believed. */
  forget(credential: Credential): void;
  /** The vendor's words without the operator's project, which no mask would know for what it is. */
  withoutProject(text: string): string;
}

/** A URL with a project in its path is Vertex: `https://{region}-aiplatform.googleapis.com/v1/projects/{p}/locations/{region}`. */
export function serviceAt(baseUrl: string, tokens: TokenSource): VeoService {
  return new URL(baseUrl).pathname.includes('/projects/') ? vertex(baseUrl, tokens) : geminiApi(baseUrl);
}

function geminiApi(baseUrl: string): VeoService {
  return {
    name: 'gemini',
    submitUrl: (model) => `${baseUrl}/models/${encodeURIComponent(model)}:predictLongRunning`,
    pollRequest: (operation) => ({ method: 'GET', url: `${baseUrl}/${operation}` }),
    authorize: async ({ key }) => ({ 'x-goog-api-key': key }),
    forget: () => undefined,
    withoutProject: withoutProjectNumber,
  };
}

function vertex(baseUrl: string, tokens: TokenSource): VeoService {
  const models = `${baseUrl.replace(/\/publishers\/google$/, '')}/publishers/google/models`;
  const project = /\/projects\/([^/]+)/.exec(baseUrl)?.[1] ?? '';
  const urlOf = (model: string): string => `${models}/${encodeURIComponent(model)}`;
  return {
    name: 'vertex',
    submitUrl: (model) => `${urlOf(model)}:predictLongRunning`,
    pollRequest: (operation, model) => ({
      method: 'POST',
      url: `${urlOf(model)}:fetchPredictOperation`,
      body: { operationName: operation },
    }),
    authorize: async (credential) => ({ authorization: `Bearer ${await tokens.tokenFor(credential)}` }),
    forget: ({ id }) => tokens.forget(id),
    withoutProject: (text) => withoutProjectNumber(project === '' ? text : text.replaceAll(project, '…')),
  };
}

/** Google also knows every project by a number. */
function withoutProjectNumber(text: string): string {
  return text.replaceAll(/\b(projects?(?: number)?[ /:#]+)\d{5,}/gi, '$1…');
}
