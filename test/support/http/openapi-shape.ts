// JSON Schema of an OpenAPI 3.1 document, as far as ours uses it: no unknown fields in any object.

const text = { type: 'string', minLength: 1 };
const reference = {
  type: 'object',
  properties: { $ref: text },
  required: ['$ref'],
  additionalProperties: false,
};
const orReference = (schema: object) => ({ anyOf: [reference, schema] });
const mapOf = (schema: object) => ({ type: 'object', additionalProperties: schema });
const closed = (required: string[], properties: Record<string, object>) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const schema = { type: ['object', 'boolean'] };

const example = closed(['value'], { summary: text, value: true as never });
const mediaType = closed(['schema'], {
  schema,
  example: true as never,
  examples: mapOf(orReference(example)),
  encoding: mapOf(closed(['contentType'], { contentType: text })),
});
const content = {
  ...mapOf(mediaType),
  propertyNames: { pattern: '^[a-z]+/[a-z0-9.+-]+$' },
  minProperties: 1,
};
const header = closed(['schema'], { description: text, required: { type: 'boolean' }, schema });
const parameterIn = (places: string[], required: object) =>
  closed(['name', 'in', 'schema', ...('const' in required ? ['required'] : [])], {
    name: text,
    in: { enum: places },
    description: text,
    required,
    schema,
  });
/** A parameter of the path is always required. */
const parameter = {
  oneOf: [
    parameterIn(['path'], { const: true }),
    parameterIn(['query', 'header', 'cookie'], { type: 'boolean' }),
  ],
};
const response = closed(['description'], { description: text, headers: mapOf(orReference(header)), content });
const operation = closed(['operationId', 'tags', 'summary', 'responses'], {
  operationId: text,
  tags: { type: 'array', items: text, minItems: 1 },
  summary: text,
  description: text,
  security: { type: 'array', items: mapOf({ type: 'array', items: text }) },
  parameters: { type: 'array', items: orReference(parameter) },
  requestBody: closed(['content'], { required: { type: 'boolean' }, content }),
  responses: {
    ...mapOf(orReference(response)),
    propertyNames: { pattern: '^([1-5]\\d\\d|[1-5]XX|default)$' },
    minProperties: 1,
  },
});
const securityScheme = {
  oneOf: [
    closed(['type', 'scheme'], {
      type: { const: 'http' },
      scheme: text,
      bearerFormat: text,
      description: text,
    }),
    closed(['type', 'in', 'name'], {
      type: { const: 'apiKey' },
      in: { enum: ['cookie', 'header', 'query'] },
      name: text,
      description: text,
    }),
  ],
};
const componentsOf = (schema: object) => ({
  ...mapOf(schema),
  propertyNames: { pattern: '^[a-zA-Z0-9._-]+$' },
});

export const DOCUMENT_SHAPE = closed(['openapi', 'info', 'paths'], {
  openapi: { type: 'string', pattern: '^3\\.1\\.\\d$' },
  info: closed(['title', 'version'], { title: text, version: text, description: text }),
  servers: { type: 'array', items: closed(['url'], { url: text, description: text }) },
  tags: { type: 'array', items: closed(['name'], { name: text, description: text }) },
  paths: {
    ...mapOf({ ...mapOf(operation), propertyNames: { enum: ['get', 'post', 'put', 'patch', 'delete'] } }),
    propertyNames: { pattern: '^/' },
  },
  webhooks: mapOf({ ...mapOf(operation), propertyNames: { const: 'post' } }),
  components: closed([], {
    schemas: componentsOf(schema),
    responses: componentsOf(orReference(response)),
    parameters: componentsOf(orReference(parameter)),
    examples: componentsOf(example),
    headers: componentsOf(orReference(header)),
    securitySchemes: componentsOf(securityScheme),
  }),
});
