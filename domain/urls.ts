// URLs that callers and vendors name: of images, of results, of webhooks.

/** Longer ones are refused, and never fetched. */
export const URL_CHARACTERS_MAX = 2_048;
