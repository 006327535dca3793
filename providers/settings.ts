// What an adapter is told by the operator, and how it picks a credential.
import { UpstreamFailure } from './provider.ts';

export interface Credential {
  /** Stands in job handles and logs; never the key itself. */
  id: string;
  key: string;
}

export interface FamilySettings {
  /** With the version path, without a trailing slash: `https://api.x.ai/v1`. */
  baseUrl: string;
  credentials: readonly Credential[];
}

export interface AdapterSettings extends FamilySettings {
  /** Longest silence of the vendor during one call. */
  upstreamTimeoutMs: number;
}

/**
 * The credential for new work. This is the place where several credentials would take turns, and where one that
 * is out of money would be passed over.
 */
export function credentialForNewWork(settings: FamilySettings): Credential {
  const credential = settings.credentials[0];
  if (!credential) throw new UpstreamFailure('auth', 'not_received');
  return credential;
}

/** The credential that handed a job over: no other one may see it. Gone from the settings: `auth`, `not_received`. */
export function credentialOfJob(settings: FamilySettings, credentialId: string): Credential {
  const credential = settings.credentials.find(({ id }) => id === credentialId);
  if (!credential) throw new UpstreamFailure('auth', 'not_received');
  return credential;
}

/** Tells whether a URL has the scheme, host and port of the base URL. */
export function originCheck(baseUrl: string): (url: URL) => boolean {
  const { origin } = new URL(baseUrl);
  return (url) => url.origin === origin;
}
