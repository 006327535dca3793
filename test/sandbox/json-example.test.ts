// Example values that fit simple JSON Schemas.

import { expect } from 'chai';
import { exampleOf } from '../../sandbox/json-example.ts';

describe('sandbox: JSON by schema', () => {
  const object = (properties: object): object => ({ type: 'object', properties });

  for (const [schema, value] of [
    [{ type: 'string', minLength: 5 }, 'foxxx'],
    [{ type: 'string', maxLength: 2 }, 'fo'],
    [{ type: 'string', format: 'date' }, '2026-01-01'],
    [{ enum: ['red', 'blue'] }, 'red'],
    [{ const: 7 }, 7],
    [{ type: 'integer', minimum: 7, multipleOf: 5 }, 10],
    [{ type: 'integer', exclusiveMinimum: 7 }, 8],
    [{ type: 'number', maximum: -3 }, -3],
    [{ type: ['boolean', 'null'] }, true],
    [{ type: 'array', items: { type: 'integer' }, minItems: 2 }, [1, 1]],
    [{ anyOf: [{ type: 'boolean' }, { type: 'null' }] }, true],
    [{ allOf: [{ type: 'object' }, object({ a: { type: 'string' } })] }, { a: 'fox' }],
    [object({ a: object({ b: { type: 'null' } }), c: true }), { a: { b: null }, c: null }],
    [{ $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }, 'fox'],
    [{}, null],
    ['nonsense', null],
  ] as const)
    it(`fits ${JSON.stringify(schema)}`, () => expect(exampleOf(schema)).to.eql(value));

  it('comes to an end where a schema contains itself', () => {
    const tree = {
      ...object({ left: { anyOf: [{ $ref: '#' }, { type: 'null' }] }, all: { items: { $ref: '#' } } }),
    };
    expect(JSON.stringify(exampleOf(tree)).length).to.be.lessThan(5000);
    expect(exampleOf({ $ref: '#' })).to.equal(null);
    expect(exampleOf({ ...object({ self: { $ref: '#' } }), required: ['self'] })).to.have.property('self');
  });
});
