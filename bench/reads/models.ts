// What the made history has few and many of.

/** Models named `model-0` and so on; most tasks and calls are of one of these. */
export const COMMON_MODELS = 5;
export const COMMON_MODEL = 'model-1';
/** One in a thousand. */
export const RARE_MODEL = 'rare-model';
/** One task and call of a user in so many is of the rare key. */
export const RARE_KEY_SHARE = 500;
