// Marks a chat request as one user's, so that vendors can tell the users of one account apart.
//
// Without it a vendor that finds abuse can only stop the account, and with it all users. A key of the prompt
// cache that two users share would tell one of them by `cached_tokens` what the other has sent.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

type Body = Readonly<Record<string, unknown>>;

/**
 * The field in which each family takes a mark of the user. OpenAI: at most 64 characters, hashed
 * (help.openai.com, article 5428082). A family that is not listed is sent none: no page of theirs promises a
 * field for it, and an unknown field may be refused.
 */
const FIELD_OF_FAMILY: Readonly<Record<string, string>> = { openai: 'safety_identifier' };
/** Fields whose value a caller chooses for users of its own; they stay apart from those of other callers. */
const CHOSEN_FIELDS = ['safety_identifier', 'user', 'prompt_cache_key'];
/** Two marks and a dot fit into 64 characters. */
const MARK_LENGTH = 31;
const USERS_MAX = 10_000;

/**
 * Returns the body with the mark of the user. Equal values of different users become different, and those of
 * one user stay equal.
 */
export function markUser(body: Body, family: string, userId: string): Body {
  const mark = marks.memo(userId);
  const marked: Record<string, unknown> = { ...body };
  const field = FIELD_OF_FAMILY[family];
  if (field !== undefined) marked[field] ??= '';
  for (const name of CHOSEN_FIELDS) {
    const chosen = marked[name];
    if (typeof chosen === 'string') marked[name] = chosen === '' ? mark : `${mark}.${markOf(chosen)}`;
  }
  return marked;
}

/** Remembered for the users of late: hashing costs more than the rest of marking. */
const marks = new LRUCache<string, string>({
  max: USERS_MAX,
  memoMethod: (userId) => markOf(`user ${userId}`),
});

function markOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, MARK_LENGTH);
}
