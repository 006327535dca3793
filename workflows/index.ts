// All workflows that the worker registers; the bundle begins here.
export { generate } from './generate.ts';
export { sweep } from './sweep.ts';
