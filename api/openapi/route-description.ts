// Types the description of a route in the OpenAPI document, beyond what its row in the route table says.
import type { z } from 'zod';
import type { ErrorCode } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { Method } from '../context.ts';

/** Groups of routes, in the order in which the document shows them. */
export const TAGS = {
  Chat: 'Text models with a bearer key, as OpenAI’s clients speak to them.',
  Images:
    'Create images with a bearer key. Creation answers at once with a task; read it until it has ended.',
  Videos:
    'Create videos with a bearer key. Creation answers at once with a task; read it until it has ended.',
  Uploads: 'Videos of yours, for models that take input videos.',
  Models: 'What there is, what may be ordered, and what it costs.',
  Webhooks: 'Addresses of yours that are told when a task has ended or the balance runs low.',
  Balance: 'What an account has and what became of it.',
  Results: 'The files that tasks made.',
  'Console: tasks': 'The task queue of whoever is logged in, whichever way its tasks were made.',
  'Console: API keys': 'Keys for /v1, with limits of their own.',
  'Console: session': 'Logging in and out, and the password.',
  'Console: second factor':
    'Authenticator app, recovery codes, and the fresh proof that some routes ask for.',
  'Redeem codes': 'Codes that add credits to an account.',
  Administration: 'For users with permissions. Every change leaves an entry in the audit log.',
  'This document': 'The description you are reading.',
} as const;
export type Tag = keyof typeof TAGS;

/** Name of a row of the route table: its method and path, such as `GET /v1/models/:id`. */
export type RouteName<Route extends { method: Method; path: string }> = Route extends {
  method: infer Verb extends string;
  path: infer Path extends string;
}
  ? `${Verb} ${Path}`
  : never;

export interface RouteDescription {
  /** Unique operation id; generated clients name their functions after it. */
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** The schema that the handler reads the query with. */
  query?: z.ZodObject;
  body?: RequestBody;
  /** Headers of the request that the handler itself reads. */
  requestHeaders?: readonly RequestHeader[];
  responses: Readonly<Record<number, ResponseDescription>>;
  /** Error codes of the handler itself, beyond those that follow from the route's row. */
  refusals?: readonly ErrorCode[];
}

/** A body that is JSON, a form, or either. */
export interface RequestBody {
  /** The schema that the handler reads JSON with. */
  schema?: z.ZodType;
  /** The schema of a form, whose parts are texts, files, and objects as JSON. */
  form?: z.ZodObject;
  /** Of JSON. */
  examples?: Readonly<Record<string, JsonValue>>;
}

/** The description of one response of a handler, by its status. */
export interface ResponseDescription {
  description: string;
  /** The schema of the JSON body; absent when there is no such body. */
  shape?: z.ZodType;
  /** Descriptions of bodies other than JSON, by media type. */
  media?: Readonly<Record<string, string>>;
  headers?: Readonly<Partial<Record<ResponseHeader, 'always' | 'sometimes'>>>;
  example?: JsonValue;
}

/** Headers that a handler adds to its response. */
export type ResponseHeader =
  | 'location'
  | 'retry-after'
  | 'set-cookie'
  | 'content-disposition'
  | 'accept-ranges'
  | 'content-range'
  | 'etag';

/** Headers of a request that single handlers read, by the name of their parameter in the document. */
export type RequestHeader = 'Range' | 'IfRange' | 'IfNoneMatch' | 'LastEventId';
