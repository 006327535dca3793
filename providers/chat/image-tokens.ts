// Tokens of the pictures in a prompt: the most that a vendor bills, and what is counted where none reports.
//
// OpenAI's guide (developers.openai.com/api/docs/guides/images-vision), as others quote it: a picture costs a
// token for each patch of 32 × 32 pixels, times a factor of the model. `low` and `high` shrink it first;
// `original`, and since GPT-5.6 also `auto` or no `detail`, do not. More than 30,000 patches are refused.
import { sizeOfDataUri } from '../../domain/files/image-size.ts';

export interface PromptImage {
  /** Empty where the request leaves it to the model. */
  detail: string;
  /** Patches of the picture as it was sent; null for a URL, which is not fetched. */
  patches: number | null;
}

/**
 * Most tokens of a picture that is shrunk. The largest factor is 2.46, of the smallest models, with 256
 * patches for `low` and 1,536 for `high`; large models have 2,500 for `high`, and a factor of 1.2.
 */
const TOKENS_OF_SHRUNK: ReadonlyMap<string, number> = new Map([
  ['low', 640],
  ['high', 3_800],
]);
const PATCH_PIXELS = 32;
/**
 * The factor of GPT-5.6 and GPT-6, small models too, as others measured it: 11,930 tokens with their text for
 * 4,000 × 2,500 pixels of gpt-5.6-sol (github.com/vybestack/llxprt-code/pull/3483), and pixels ÷ 1,024 × 1.2
 * at all sizes of gpt-6.1-sol (docs.apiyi.com/en/faq/vision-image-too-large).
 */
const TOKENS_PER_PATCH = 1.2;
/** The vendor's own error names it (github.com/Prism-Shadow/penguin-harness/issues/573). */
const PATCHES_MAX = 30_000;
/** Least that is reserved of a picture that is not shrunk, since models may enlarge small ones. */
const TOKENS_RESERVED_MIN = 10_000;
/** Least that is counted of it. */
const TOKENS_COUNTED_MIN = 1_500;
/** Counted of a picture behind a URL, as of 8.5 megapixels: between usual ones of the web and of cameras. */
const TOKENS_COUNTED_OF_URL = 10_000;

/** Reads a picture of a request. A data URI whose header does not tell its size counts as the largest. */
export function readPromptImage(url: string, detail: string): PromptImage {
  if (!/^data:/i.test(url)) return { detail, patches: null };
  const size = sizeOfDataUri(url);
  return { detail, patches: size ? patchesOf(size.width) * patchesOf(size.height) : PATCHES_MAX };
}

/**
 * Most tokens that a vendor can bill for the picture. More patches than OpenAI takes are not cut off: another
 * upstream of the model may take them.
 */
export function maxImageTokens({ detail, patches }: PromptImage): number {
  const shrunk = TOKENS_OF_SHRUNK.get(detail);
  return shrunk ?? Math.max(TOKENS_RESERVED_MIN, tokensOf(patches ?? PATCHES_MAX));
}

/** Tokens that are charged for the picture where the upstream did not report them. */
export function countImageTokens({ detail, patches }: PromptImage): number {
  const shrunk = TOKENS_OF_SHRUNK.get(detail);
  if (shrunk !== undefined) return shrunk;
  return patches === null ? TOKENS_COUNTED_OF_URL : Math.max(TOKENS_COUNTED_MIN, tokensOf(patches));
}

function patchesOf(pixels: number): number {
  return Math.ceil(pixels / PATCH_PIXELS);
}

function tokensOf(patches: number): number {
  return Math.ceil(patches * TOKENS_PER_PATCH);
}
