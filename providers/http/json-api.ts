// The JSON API of one vendor: base URL, credential, time limit and size limit of every request are set here.
import type { FormData } from 'undici';
import type { JsonValue } from '../../domain/json.ts';
import { findCredential, type AdapterSettings, type Credential } from '../settings.ts';
import { requestJson, type UpstreamRequest } from './client.ts';
import { failureOfStatus, type ToFailure, type UpstreamResponse } from './status.ts';

export interface JsonApi {
  /**
   * Sends one request. Throws an UpstreamFailure: `auth`, `not_received` for a credential that is gone from
   * the settings, and whatever `requestJson` throws.
   */
  send(request: JsonApiRequest): Promise<JsonResponse>;
}

export interface JsonApiRequest {
  method: UpstreamRequest['method'];
  /** Appended to the base URL, so it begins with a slash; ids in it are escaped already. */
  path: string;
  /** Id of the credential in whose name the request is sent. */
  credential: string;
  /** A body for JSON: an object, or its serialization where several requests share it. */
  json?: JsonObject | string | undefined;
  /** A body for a form, instead of `json`. */
  form?: FormData | undefined;
  /** Headers beyond authorization and content type. */
  headers?: Readonly<Record<string, string>>;
  /** Longest body of a 2xx response, by default 1 MiB. */
  bytesMax?: number;
  signal?: AbortSignal | undefined;
  /** Whether it can be asked again (`UpstreamRequest`); a GET can. */
  isRead?: boolean;
  /** What a response outside 2xx stands for, by default `failureOfStatus`. */
  toFailure?: ToFailure;
}

export type JsonObject = Readonly<Record<string, JsonValue>>;

export interface JsonResponse extends UpstreamResponse {
  /** Null for an empty body. */
  json: unknown;
}

/** Headers that authenticate a request in the name of a credential. */
export type Authorize = (credential: Credential) => Promise<AuthHeaders> | AuthHeaders;
export type AuthHeaders = Readonly<Record<string, string>>;

const RESPONSE_BYTES_MAX = 1024 * 1024;

export function createJsonApi(settings: AdapterSettings, authorize: Authorize = authorizeByBearer): JsonApi {
  return {
    send: async (request) => {
      const { method, path, credential, json, form, signal } = request;
      const authorization = await authorize(findCredential(settings, credential));
      const contentType = json === undefined ? {} : { 'content-type': 'application/json' };
      const body = typeof json === 'object' ? JSON.stringify(json) : (json ?? form);
      const call: UpstreamRequest = {
        method,
        url: `${settings.baseUrl}${path}`,
        headers: { ...authorization, ...contentType, ...request.headers },
        ...(body === undefined ? {} : { body }),
        timeoutMs: settings.upstreamTimeoutMs,
        bytesMax: request.bytesMax ?? RESPONSE_BYTES_MAX,
        signal,
        isRead: request.isRead,
      };
      return requestJson(call, request.toFailure ?? failureOfStatus);
    },
  };
}

/** The scheme of most vendors: the credential's key as a bearer token. */
export function authorizeByBearer({ key }: Credential): AuthHeaders {
  return { authorization: `Bearer ${key}` };
}
