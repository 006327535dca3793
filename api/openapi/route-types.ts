// The types of every route's query, body and answer, read off the schemas that validate and describe them.
import type { z } from 'zod';
import type { RouteDescriptions } from './descriptions/index.ts';

/** Name of a route: its method and path, such as `GET /api/tasks/:id`. */
export type ApiRoute = keyof RouteDescriptions;

/** What a caller may send as the query; an empty object where a route reads none. */
export type QueryOf<Name extends ApiRoute> = RouteDescriptions[Name] extends { query: infer Query }
  ? z.input<Query extends z.ZodType ? Query : never>
  : Record<string, never>;

/** What a caller sends as the body; undefined where a route takes none. */
export type BodyOf<Name extends ApiRoute> = RouteDescriptions[Name] extends {
  body: { schema: infer Schema };
}
  ? z.input<Schema extends z.ZodType ? Schema : never>
  : undefined;

type Responses<Name extends ApiRoute> = RouteDescriptions[Name]['responses'];
type ShapeOf<Response> = Response extends { shape: infer Shape }
  ? z.output<Shape extends z.ZodType ? Shape : never>
  : undefined;

/** The JSON that a route answers when it succeeds; undefined for an answer without a body. */
export type AnswerOf<Name extends ApiRoute> = {
  [Status in keyof Responses<Name>]: ShapeOf<Responses<Name>[Status]>;
}[keyof Responses<Name>];
