// Tolerant readers of what upstreams send: members that are absent or of another type read as empty.

export type Members = Readonly<Record<string, unknown>>;

export function membersOf(value: unknown): Members {
  return isMembers(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text as it is, with its white space; empty for anything else. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A number, or null. */
export function asNumber(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
