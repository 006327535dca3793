// All workflows that the worker registers; the bundle begins here.
export { deliverWebhook } from './deliver-webhook.ts';
export { generate } from './generate.ts';
export { sweep } from './sweep.ts';
