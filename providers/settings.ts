// Settings of an adapter: base URL, credentials, limits.
import { UpstreamFailure } from './provider.ts';

export interface Credential {
  /** Name of the credential in job handles and logs; never the key itself. */
  id: string;
  key: string;
}

export interface FamilySettings {
  /** With the version path, without a trailing slash: `https://api.x.ai/v1`. */
  baseUrl: string;
  credentials: readonly Credential[];
  /** How many jobs one credential may have at the vendor at once. Absent: the vendor sets no such limit. */
  jobsPerCredentialMax?: number;
}

export interface AdapterSettings extends FamilySettings {
  /** Longest silence of the vendor during one request. */
  upstreamTimeoutMs: number;
}

/** The credential of this id. Throws `auth`, `not_received` when it is gone from the settings. */
export function findCredential(settings: FamilySettings, credentialId: string): Credential {
  const credential = settings.credentials.find(({ id }) => id === credentialId);
  if (!credential) throw new UpstreamFailure('auth', 'not_received');
  return credential;
}

/** `credentialsFor` of a vendor whose every key serves every model. */
export function everyCredential({ credentials }: FamilySettings): () => readonly string[] {
  const ids = credentials.map(({ id }) => id);
  return () => ids;
}

/** Returns a check whether a URL has the scheme, host and port of the base URL. */
export function originCheck(baseUrl: string): (url: URL) => boolean {
  const { origin } = new URL(baseUrl);
  return (url) => url.origin === origin;
}
