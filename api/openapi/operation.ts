// What is told about a route beyond its row in the table: one of these per route, by its name.
import type { z } from 'zod';
import type { ErrorCode } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { Method } from '../context.ts';

/** Groups of operations, in the order in which they are shown. */
export const TAGS = {
  Chat: 'Text models with a bearer key, as OpenAI’s clients speak to them.',
  Images:
    'Create images with a bearer key. Creation answers at once with a task; read it until it has ended.',
  Videos:
    'Create videos with a bearer key. Creation answers at once with a task; read it until it has ended.',
  Uploads: 'Videos of yours, for models that take input videos.',
  Models: 'What there is, what may be ordered, and what it costs.',
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

/** A row of the route table by its method and path, as in `GET /v1/models/:id`. */
export type RouteName<Route extends { method: Method; path: string }> = Route extends {
  method: infer Verb extends string;
  path: infer Path extends string;
}
  ? `${Verb} ${Path}`
  : never;

export interface Operation {
  /** Unique; generated clients name their functions after it. */
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** The schema that the handler reads the query with. */
  query?: z.ZodObject;
  body?: RequestBody;
  answers: Readonly<Record<number, Answer>>;
  /** What the handler refuses with, beyond what follows from the route's row. */
  refusals?: readonly ErrorCode[];
}

export interface RequestBody {
  /** The schema that the handler reads the body with. */
  schema: z.ZodType;
  /** Absent: JSON. */
  mediaType?: 'multipart/form-data';
  examples?: Readonly<Record<string, JsonValue>>;
}

export interface Answer {
  description: string;
  /** Of the JSON body; absent: there is none. */
  shape?: z.ZodType;
  /** Bodies that are no JSON, by media type; the text says what they are. */
  media?: Readonly<Record<string, string>>;
  headers?: Readonly<Partial<Record<AnswerHeader, 'always' | 'sometimes'>>>;
  example?: JsonValue;
}

/** Headers that a handler adds to its answer. */
export type AnswerHeader = 'location' | 'retry-after' | 'set-cookie' | 'content-disposition';
