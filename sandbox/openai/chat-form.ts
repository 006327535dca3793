/** The form a chat's answer takes: free text, JSON of a schema, or the call of a function. */

import type { Call } from '../dialect.ts';
import { type Fields, isFields } from '../requests.ts';
import { isAbsent, oneOf, refuse, refuseAbsent, refuseType, requireText } from './chat-fields.ts';

export type AnswerForm =
  | { readonly kind: 'text' }
  | { readonly kind: 'json'; readonly schema: Fields }
  | { readonly kind: 'call'; readonly name: string; readonly schema: Fields };

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const ANY_OBJECT: Fields = { properties: { answer: { type: 'string' } } };

/** A model that may choose between tools and text chooses text. */
export function checkForm(call: Call, fields: Fields): AnswerForm {
  const functions = checkTools(call, fields);
  const format = checkFormat(call, fields['response_format']);
  return checkChoice(call, fields, functions) ?? format;
}

interface FunctionTool {
  readonly name: string;
  readonly schema: Fields;
}

function checkTools(call: Call, { tools }: Fields): FunctionTool[] {
  if (isAbsent(tools)) return [];
  if (!Array.isArray(tools)) refuseType(call, 'tools', 'an array of objects', tools);
  if (tools.length === 0) {
    const message = "Invalid 'tools': empty array. Expected an array with minimum length 1.";
    refuse(call, 'tools', message, 'empty_array');
  }
  return tools.flatMap((tool, index) => checkTool(call, `tools[${index}]`, tool));
}

function checkTool(call: Call, field: string, tool: unknown): FunctionTool[] {
  if (!isFields(tool)) refuseType(call, field, 'an object', tool);
  const type = oneOf(call, `${field}.type`, tool['type'], ['function', 'custom']);
  if (type === undefined) refuseAbsent(call, `${field}.type`);
  if (type === 'custom') return [];
  const described = tool['function'];
  if (isAbsent(described)) refuseAbsent(call, `${field}.function`);
  if (!isFields(described)) refuseType(call, `${field}.function`, 'an object', described);
  const name = checkName(call, `${field}.function.name`, described['name']);
  return [{ name, schema: checkSchema(call, `${field}.function.parameters`, described['parameters']) }];
}

/** Undefined where no function has to be called. */
function checkChoice(call: Call, fields: Fields, functions: FunctionTool[]): AnswerForm | undefined {
  const choice = fields['tool_choice'];
  if (isAbsent(choice)) return undefined;
  if (isAbsent(fields['tools'])) {
    const message =
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.";
    refuse(call, 'tool_choice', message);
  }
  if (!isFields(choice)) {
    const mode = oneOf(call, 'tool_choice', choice, ['none', 'auto', 'required']);
    return mode === 'required' ? callOf(functions[0]) : undefined;
  }
  const type = oneOf(call, 'tool_choice.type', choice['type'], ['function', 'allowed_tools', 'custom']);
  if (type === undefined) refuseAbsent(call, 'tool_choice.type');
  if (type === 'function') return namedCall(call, choice['function'], functions);
  const allowed = isFields(choice['allowed_tools']) ? choice['allowed_tools'] : {};
  return type === 'allowed_tools' && allowed['mode'] === 'required'
    ? firstAllowed(allowed, functions)
    : undefined;
}

function namedCall(call: Call, named: unknown, functions: FunctionTool[]): AnswerForm | undefined {
  const field = 'tool_choice.function.name';
  const name = requireText(call, field, isFields(named) ? named['name'] : undefined);
  const found = functions.find((candidate) => candidate.name === name);
  if (found !== undefined) return callOf(found);
  const message = `Invalid value for 'tool_choice': no function named '${name}' was specified in the 'tools' parameter.`;
  return refuse(call, 'tool_choice', message);
}

function firstAllowed({ tools }: Fields, functions: FunctionTool[]): AnswerForm | undefined {
  const names = (Array.isArray(tools) ? tools : [])
    .map((tool) => (isFields(tool) ? tool['function'] : undefined))
    .map((described) => (isFields(described) ? described['name'] : undefined));
  return callOf(functions.find(({ name }) => names.includes(name)));
}

function callOf(found: FunctionTool | undefined): AnswerForm | undefined {
  return found === undefined ? undefined : { kind: 'call', ...found };
}

function checkFormat(call: Call, format: unknown): AnswerForm {
  if (isAbsent(format)) return { kind: 'text' };
  if (!isFields(format)) refuseType(call, 'response_format', 'an object', format);
  const types = ['json_object', 'json_schema', 'text'] as const;
  const type = oneOf(call, 'response_format.type', format['type'], types);
  if (type === undefined) refuseAbsent(call, 'response_format.type');
  if (type === 'text') return { kind: 'text' };
  if (type === 'json_object') return { kind: 'json', schema: ANY_OBJECT };
  const field = 'response_format.json_schema';
  const described = format['json_schema'];
  if (isAbsent(described)) refuseAbsent(call, field);
  if (!isFields(described)) refuseType(call, field, 'an object', described);
  checkName(call, `${field}.name`, described['name']);
  return { kind: 'json', schema: checkSchema(call, `${field}.schema`, described['schema']) };
}

function checkName(call: Call, field: string, value: unknown): string {
  const name = requireText(call, field, value);
  if (NAME.test(name)) return name;
  const message = `Invalid '${field}': string does not match pattern. Expected a string that matches '${NAME.source}'.`;
  return refuse(call, field, message, 'invalid_value');
}

function checkSchema(call: Call, field: string, schema: unknown): Fields {
  if (isAbsent(schema)) return { type: 'object' };
  return isFields(schema) ? schema : refuseType(call, field, 'an object', schema);
}
