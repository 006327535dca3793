// The path of the OpenAPI document.

export const DOCUMENT_ROUTE = '/openapi.json';
