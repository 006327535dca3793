// Finds the few routes that may match a path by a Map, instead of trying the pattern of every route of the
// app.
import { Router, type RequestHandler } from 'express';

export interface Dispatcher {
  /** The router on which a path's pattern, such as `/api/tasks/:id`, is to be mounted. */
  routerOf: (pattern: string) => Router;
  /** All routers so far. */
  routers: () => readonly Router[];
  /** Tries the routers whose static segments the request's path begins with, the longest first. */
  dispatch: RequestHandler;
}

/**
 * One Express router per static beginning of a pattern: `/api/tasks/:id` and `/api/tasks` share `/api/tasks`.
 * Which pattern matches, with its parameters, case and trailing slash, is still Express's decision; the Map
 * only leaves out routers that could not match.
 */
export function createDispatcher(): Dispatcher {
  const routers = new Map<string, Router>();
  let segmentsMax = 0;
  return {
    routerOf: (pattern) => {
      const [beginning = ''] = pattern.toLowerCase().split('/:', 1);
      segmentsMax = Math.max(segmentsMax, beginning.split('/').length - 1);
      const router = routers.get(beginning) ?? Router();
      routers.set(beginning, router);
      return router;
    },
    routers: () => [...routers.values()],
    dispatch: (req, res, next) => {
      const candidates = beginningsOf(req.path.toLowerCase(), segmentsMax)
        .map((beginning) => routers.get(beginning))
        .filter((router) => router !== undefined);
      const tryNext = (error?: unknown): void => {
        const router = error === undefined || error === null ? candidates.shift() : undefined;
        if (router) router(req, res, tryNext);
        else next(error);
      };
      tryNext();
    },
  };
}

/**
 * Of `/api/tasks/1`, at most two: `/api/tasks` and `/api`. Bounded, as a path may be thousands of slashes.
 */
function beginningsOf(path: string, segmentsMax: number): string[] {
  const beginnings: string[] = [];
  for (let end = 0; beginnings.length < segmentsMax && end < path.length;) {
    const slash = path.indexOf('/', end + 1);
    end = slash < 0 ? path.length : slash;
    beginnings.unshift(path.slice(0, end));
  }
  return beginnings;
}
