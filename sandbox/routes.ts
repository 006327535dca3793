/** Finds the dialect and the route a request is for. */

import type { Dialect, Route } from './dialect.ts';

export interface Found {
  readonly dialect: Dialect;
  /** Absent where the vendor has no such path, or no such method on it. */
  readonly route: Route | undefined;
  readonly pathExists: boolean;
  readonly parameters: Readonly<Record<string, string>>;
}

interface Compiled {
  readonly dialect: Dialect;
  readonly route: Route;
  readonly pattern: RegExp;
}

export class Routes {
  readonly #dialects: readonly Dialect[];
  readonly #compiled: readonly Compiled[];

  constructor(dialects: readonly Dialect[]) {
    this.#dialects = dialects;
    this.#compiled = dialects.flatMap((dialect) =>
      dialect.routes.map((route) => ({ dialect, route, pattern: compile(dialect.prefix + route.path) })),
    );
  }

  /** Undefined where the path is no vendor's. */
  find(method: string, path: string): Found | undefined {
    const matching = this.#compiled.filter(({ pattern }) => pattern.test(path));
    const exact = matching.find(({ route }) => route.method === method);
    if (exact !== undefined) {
      const parameters = { ...exact.pattern.exec(path)?.groups };
      return { dialect: exact.dialect, route: exact.route, pathExists: true, parameters };
    }
    const dialect =
      matching[0]?.dialect ?? this.#dialects.find(({ prefix }) => path.startsWith(`${prefix}/`));
    if (dialect === undefined) return undefined;
    return { dialect, route: undefined, pathExists: matching.length > 0, parameters: {} };
  }
}

/** A name in braces ends at a slash or, for paths such as `models/{model}:predict`, at a colon. */
function compile(path: string): RegExp {
  const source = path.replaceAll(/\{(\w+)\}|[^\w/{}-]/g, (text, name) =>
    name === undefined ? `\\${text}` : `(?<${name}>[^/:]+)`,
  );
  return new RegExp(`^${source}$`);
}
