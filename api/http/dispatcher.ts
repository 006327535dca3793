// Dispatches a request by the beginning of its path, instead of trying the pattern of every route.
import { Router, type RequestHandler } from 'express';

export interface Dispatcher {
  /** Returns the router on which a path's pattern, such as `/api/tasks/:id`, is to be mounted. */
  routerOf: (pattern: string) => Router;
  /** Serves a path without parameters, in exactly this spelling, without any router. */
  serveExactly: (method: string, path: string, serve: RequestHandler) => void;
  /** Returns the routers created so far. */
  routers: () => readonly Router[];
  /** Serves an exact path; else tries the routers whose static segments it begins with, the longest first. */
  dispatch: RequestHandler;
}

/**
 * Creates one Express router per static beginning of a pattern: `/api/tasks/:id` and `/api/tasks` share
 * `/api/tasks`. Express still decides which pattern matches, with its parameters, case and trailing slash;
 * the Map only leaves out routers that could not match. A path in its exact spelling, which nearly all
 * requests have, needs no pattern at all.
 */
export function createDispatcher(): Dispatcher {
  const routers = new Map<string, Router>();
  const exact = new Map<string, RequestHandler>();
  let segmentsMax = 0;
  return {
    routerOf: (pattern) => {
      const [beginning = ''] = pattern.toLowerCase().split('/:', 1);
      segmentsMax = Math.max(segmentsMax, beginning.split('/').length - 1);
      const router = routers.get(beginning) ?? Router();
      routers.set(beginning, router);
      return router;
    },
    serveExactly: (method, path, serve) => void exact.set(`${method} ${path}`, serve),
    routers: () => [...routers.values()],
    dispatch: (req, res, next) => {
      const serve = exact.get(`${req.method} ${req.path}`);
      if (serve) return serve(req, res, next);
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
 * The beginnings of a path, longest first: `/api/tasks/1`, `/api/tasks`, `/api`. At most `segmentsMax`,
 * because a path may be thousands of slashes.
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
