// The words of a usage summary: how long its intervals are, and what its rows are grouped by.

export const USAGE_INTERVALS = ['hour', 'day', 'month'] as const;
export type UsageInterval = (typeof USAGE_INTERVALS)[number];

export const USAGE_GROUPS = ['model', 'key', 'kind', 'none'] as const;
/** What summaries over all users are grouped by. */
export const ALL_USAGE_GROUPS = [...USAGE_GROUPS, 'user', 'family'] as const;
export type UsageGroup = (typeof ALL_USAGE_GROUPS)[number];

/** The kind of a chat call in a summary; tasks have their mode. */
export const CHAT_KIND = 'chat';
