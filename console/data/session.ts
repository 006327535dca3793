// Who is logged in. The end of a session shows the login in the place of the page.
import type { AnswerOf } from '../../api/openapi/route-types.ts';
import { client } from './client.ts';
import { forgetBegun } from './first-reads.ts';

export type User = AnswerOf<'GET /api/auth/me'>['data'];
export type Permission = string;

const ME = ['me'] as const;

/**
 * Believes the page that there is no session, unless the browser may have kept the page from before a login:
 * then the API is asked.
 */
export function believePage(): void {
  const [opened] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  if (document.documentElement.dataset['session'] === 'none' && opened?.type !== 'back_forward')
    client.setQueryData(ME, null);
}

/** Forgets everything that was read for the session that ended. */
export function sessionEnded(): void {
  forgetBegun();
  client.setQueryData(ME, null);
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== ME[0] });
}

export function sessionBegan(user: User): void {
  client.setQueryData(ME, user);
}

export function hasPermission(user: User, permission: Permission): boolean {
  return user.permissions.includes(permission);
}
