// Determines the form of a chat's answer: text, JSON of a schema, or a function call.

import { type Fields, isFields } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';
import { isAbsent, oneOf, refuseField, refuseAbsent, refuseType, requireText } from './fields.ts';

export type AnswerForm =
  | { readonly kind: 'text' }
  | { readonly kind: 'json'; readonly schema: Fields }
  | { readonly kind: 'call'; readonly name: string; readonly schema: Fields };

interface FunctionTool {
  readonly name: string;
  readonly schema: Fields;
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const ANY_OBJECT: Fields = { properties: { answer: { type: 'string' } } };

/** A model that may choose between a function call and text chooses text here. */
export function checkForm(request: SandboxRequest, fields: Fields): AnswerForm {
  const functions = checkTools(request, fields);
  const format = checkFormat(request, fields['response_format']);
  return checkChoice(request, fields, functions) ?? format;
}

function checkTools(request: SandboxRequest, { tools }: Fields): FunctionTool[] {
  if (isAbsent(tools)) return [];
  if (!Array.isArray(tools)) refuseType(request, 'tools', 'an array of objects', tools);
  if (tools.length === 0) {
    const message = "Invalid 'tools': empty array. Expected an array with minimum length 1.";
    refuseField(request, 'tools', message, 'empty_array');
  }
  return tools.flatMap((tool, index) => checkTool(request, `tools[${index}]`, tool));
}

function checkTool(request: SandboxRequest, field: string, tool: unknown): FunctionTool[] {
  if (!isFields(tool)) refuseType(request, field, 'an object', tool);
  const type = oneOf(request, `${field}.type`, tool['type'], ['function', 'custom']);
  if (type === null) refuseAbsent(request, `${field}.type`);
  if (type === 'custom') return [];
  const described = tool['function'];
  if (isAbsent(described)) refuseAbsent(request, `${field}.function`);
  if (!isFields(described)) refuseType(request, `${field}.function`, 'an object', described);
  const name = checkName(request, `${field}.function.name`, described['name']);
  return [{ name, schema: checkSchema(request, `${field}.function.parameters`, described['parameters']) }];
}

/** Null where the model need not call a function. */
function checkChoice(request: SandboxRequest, fields: Fields, functions: FunctionTool[]): AnswerForm | null {
  const choice = fields['tool_choice'];
  if (isAbsent(choice)) return null;
  if (isAbsent(fields['tools'])) {
    const message =
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.";
    refuseField(request, 'tool_choice', message);
  }
  if (!isFields(choice)) {
    const mode = oneOf(request, 'tool_choice', choice, ['none', 'auto', 'required']);
    return mode === 'required' ? callOf(functions[0]) : null;
  }
  const type = oneOf(request, 'tool_choice.type', choice['type'], ['function', 'allowed_tools', 'custom']);
  if (type === null) refuseAbsent(request, 'tool_choice.type');
  if (type === 'function') return namedCall(request, choice['function'], functions);
  const allowed = isFields(choice['allowed_tools']) ? choice['allowed_tools'] : {};
  return type === 'allowed_tools' && allowed['mode'] === 'required' ? firstAllowed(allowed, functions) : null;
}

function namedCall(request: SandboxRequest, named: unknown, functions: FunctionTool[]): AnswerForm | null {
  const field = 'tool_choice.function.name';
  const name = requireText(request, field, isFields(named) ? named['name'] : undefined);
  const found = functions.find((candidate) => candidate.name === name);
  if (found !== undefined) return callOf(found);
  const message = `Invalid value for 'tool_choice': no function named '${name}' was specified in the 'tools' parameter.`;
  return refuseField(request, 'tool_choice', message);
}

function firstAllowed({ tools }: Fields, functions: FunctionTool[]): AnswerForm | null {
  const names = (Array.isArray(tools) ? tools : [])
    .map((tool) => (isFields(tool) ? tool['function'] : undefined))
    .map((described) => (isFields(described) ? described['name'] : undefined));
  return callOf(functions.find(({ name }) => names.includes(name)));
}

function callOf(found: FunctionTool | undefined): AnswerForm | null {
  return found === undefined ? null : { kind: 'call', ...found };
}

function checkFormat(request: SandboxRequest, format: unknown): AnswerForm {
  if (isAbsent(format)) return { kind: 'text' };
  if (!isFields(format)) refuseType(request, 'response_format', 'an object', format);
  const types = ['json_object', 'json_schema', 'text'] as const;
  const type = oneOf(request, 'response_format.type', format['type'], types);
  if (type === null) refuseAbsent(request, 'response_format.type');
  if (type === 'text') return { kind: 'text' };
  if (type === 'json_object') return { kind: 'json', schema: ANY_OBJECT };
  const field = 'response_format.json_schema';
  const described = format['json_schema'];
  if (isAbsent(described)) refuseAbsent(request, field);
  if (!isFields(described)) refuseType(request, field, 'an object', described);
  checkName(request, `${field}.name`, described['name']);
  return { kind: 'json', schema: checkSchema(request, `${field}.schema`, described['schema']) };
}

function checkName(request: SandboxRequest, field: string, value: unknown): string {
  const name = requireText(request, field, value);
  if (NAME.test(name)) return name;
  const message = `Invalid '${field}': string does not match pattern. Expected a string that matches '${NAME.source}'.`;
  return refuseField(request, field, message, 'invalid_value');
}

function checkSchema(request: SandboxRequest, field: string, schema: unknown): Fields {
  if (isAbsent(schema)) return { type: 'object' };
  return isFields(schema) ? schema : refuseType(request, field, 'an object', schema);
}
