// Reading what callers send: bodies, queries, ids and cursors, with errors that name the field.
import { z } from 'zod';
import { isId } from '../db/ids.ts';
import { GatewayError, type ErrorCode } from '../domain/errors.ts';

/** Parses a body. An absent field is `missing_field`, everything else about a field is `invalid_value`. */
export function readBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw explain(parsed.error, body);
}

/** Parses query parameters; each may stand once. */
export function readQuery<Schema extends z.ZodType>(
  schema: Schema,
  query: URLSearchParams,
): z.output<Schema> {
  const parameters: Record<string, string> = {};
  for (const [name, value] of query) {
    if (Object.hasOwn(parameters, name))
      throw new GatewayError('invalid_value', { param: name, message: `${name} may stand once.` });
    parameters[name] = value;
  }
  return readBody(schema, parameters);
}

/** A whole number in a query. */
export function queryInteger(min: number, max: number, fallback: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
    .default(fallback);
}

/** The task id of a path. What cannot be an id is a task that does not exist. */
export function readTaskId(params: Readonly<Record<string, string>>): string {
  const id = params['id'] ?? '';
  if (!isId('task', id)) throw new GatewayError('task_not_found');
  return id;
}

function explain(error: z.ZodError, body: unknown): GatewayError {
  const issue = error.issues[0];
  if (!issue) return new GatewayError('invalid_request');
  if (issue.code === 'unrecognized_keys') {
    const param = [...issue.path, issue.keys[0] ?? ''].join('.');
    return new GatewayError('invalid_request', { param, message: `There is no field ${param}.` });
  }
  const param = writePath(issue.path);
  if (param === '') return new GatewayError('invalid_request');
  if (valueAt(body, issue.path) === undefined)
    return new GatewayError('missing_field', { param, message: `${param} is required.` });
  const code: ErrorCode = 'invalid_value';
  return new GatewayError(code, { param, message: `${param}: ${issue.message}.` });
}

function writePath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((current, step) => {
    return typeof current === 'object' && current !== null ? Reflect.get(current, step) : undefined;
  }, value);
}
