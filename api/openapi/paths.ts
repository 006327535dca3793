// The path of the API's own description.

export const DOCUMENT_ROUTE = '/openapi.json';
