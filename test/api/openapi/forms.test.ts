// What the OpenAPI document says of forms: how a client made from it sends each part.
import { expect } from 'chai';
import { DOCUMENT } from '../../../dev/documented.ts';

interface Field {
  type?: string;
  contentMediaType?: string;
  items?: Field;
  anyOf?: Field[];
}

interface Form {
  schema: { properties: Record<string, Field> };
  encoding?: Record<string, unknown>;
}

/** The fields of all forms, each with the name of its operation. */
const fields = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.values(methods).flatMap((operation) => {
    const form: Form | undefined = Object(operation['requestBody']).content?.['multipart/form-data'];
    return Object.entries(form?.schema.properties ?? {}).map(([name, field]) => ({
      name: `${path} ${name}`,
      field,
      encoding: form?.encoding?.[name],
    }));
  }),
);

describe('a form in the OpenAPI document', () => {
  it('says of each object that its part is JSON, and of nothing else', () => {
    const objects = fields.filter(({ field }) => field.type === 'object');
    expect(objects.map(({ name }) => name)).to.have.members([
      '/v1/images/edits metadata',
      '/v1/videos metadata',
    ]);
    for (const { name, field, encoding } of fields)
      expect(encoding, name).to.deep.equal(
        field.type === 'object' ? { contentType: 'application/json' } : undefined,
      );
  });

  it('says of each part what it is: text, a file or an object, and never one of several', () => {
    for (const { name, field } of fields) {
      const types = (field.anyOf ?? []).map(({ type }) => type);
      expect(types, name).not.to.include.oneOf(['object', 'array', 'number', 'integer']);
    }
  });

  it('names the files', () => {
    const files = fields.filter(({ field }) => (field.items ?? field).contentMediaType !== undefined);
    expect(files.map(({ name }) => name)).to.have.members([
      '/v1/images/edits image',
      '/v1/videos input_reference',
      '/v1/uploads/videos file',
      '/api/uploads/videos file',
    ]);
  });
});
