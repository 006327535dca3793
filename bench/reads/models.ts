// What the made history has few and many of.

export const COMMON_MODEL = 'model-1';
/** One in a thousand. */
export const RARE_MODEL = 'rare-model';
/** One call in so many is of the rare key. */
export const RARE_KEY_SHARE = 500;
