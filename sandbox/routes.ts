// Finds the vendor API and the route that a request is for.

import type { Route, VendorApi } from './vendor-api.ts';

export interface RouteMatch {
  readonly api: VendorApi;
  /** Null where the vendor has no such path, or no such method on it. */
  readonly route: Route | null;
  readonly pathExists: boolean;
  readonly parameters: Readonly<Record<string, string>>;
}

interface CompiledRoute {
  readonly api: VendorApi;
  readonly route: Route;
  readonly pattern: RegExp;
}

export class Routes {
  readonly #apis: readonly VendorApi[];
  readonly #compiled: readonly CompiledRoute[];

  constructor(apis: readonly VendorApi[]) {
    this.#apis = apis;
    this.#compiled = apis.flatMap((api) =>
      api.routes.map((route) => ({ api, route, pattern: compile(api.prefix + route.path) })),
    );
  }

  /** Null where the path is no vendor's. */
  find(method: string, path: string): RouteMatch | null {
    const matching = this.#compiled.filter(({ pattern }) => pattern.test(path));
    const exact = matching.find(({ route }) => route.method === method);
    if (exact !== undefined) {
      const parameters = { ...exact.pattern.exec(path)?.groups };
      return { api: exact.api, route: exact.route, pathExists: true, parameters };
    }
    const api = matching[0]?.api ?? this.#apis.find(({ prefix }) => path.startsWith(`${prefix}/`));
    if (api === undefined) return null;
    return { api, route: null, pathExists: matching.length > 0, parameters: {} };
  }
}

/** A name in braces ends at a slash or, for paths such as `models/{model}:predict`, at a colon. */
function compile(path: string): RegExp {
  const source = path.replaceAll(/\{(\w+)\}|[^\w/{}-]/g, (text, name) =>
    name === undefined ? `\\${text}` : `(?<${name}>[^/:]+)`,
  );
  return new RegExp(`^${source}$`);
}
