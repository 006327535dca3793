// Whether the places where a text model can be had are set up: a key, an address, and https where it must be.
import type { Upstream } from '../domain/catalog/upstream.ts';
import { variableOf, type Family } from './families.ts';
import { isPrivateHost } from './private-hosts.ts';

type Families = Readonly<Record<string, Family>>;

/** What an upstream lacks to be called: a sentence for the operator; null when it lacks nothing. */
export function explainUnserved(upstream: Upstream, families: Families): string | null {
  const { family, auth } = upstream;
  if (auth !== 'none' && (families[family]?.credentials.length ?? 0) === 0)
    return `the family ${family} has no key: set ${variableOf(family, 'API_KEY')}, or say "auth": "none"`;
  if (addressOf(upstream, families) === '')
    return `the family ${family} has no address: say "baseUrl", or set ${variableOf(family, 'BASE_URL')}`;
  return null;
}

/** Why an upstream may not be called over plain http; null when it may, or is called over https. */
export function explainInsecure(
  upstream: Upstream,
  families: Families,
  isProduction: boolean,
): string | null {
  const address = addressOf(upstream, families);
  if (!address.startsWith('http:')) return null;
  const { origin } = new URL(address);
  if (upstream.allowHttp && !isPrivateHost(address))
    return `"allowHttp" is for private hosts, and ${origin} is none`;
  if (isProduction && !upstream.allowHttp)
    return `production talks to ${origin} over https; "allowHttp": true permits http to a private host`;
  return null;
}

/** Whether plain http to a family's base URL is judged by the upstreams that name the family. */
export function mayUseHttp(family: string, upstreams: readonly Upstream[]): boolean {
  const named = upstreams.filter((each) => each.family === family && each.baseUrl === undefined);
  return named.length > 0 && named.every(({ allowHttp }) => allowHttp);
}

/** Empty where neither the upstream nor its family has one. */
function addressOf({ family, baseUrl }: Upstream, families: Families): string {
  return baseUrl ?? families[family]?.baseUrl ?? '';
}
