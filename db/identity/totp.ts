// Time-based codes as authenticator apps make them (RFC 6238): six digits, a new code every 30 seconds.
import { Secret, TOTP } from 'otpauth';

const ISSUER = 'SVC Gateway';
const SECRET_BYTES = 20;
/** The code before and the code after are accepted too, for clock skew and slow typing. */
const STEPS_TO_EACH_SIDE = 1;

/** Makes a secret, in the base 32 that apps expect. */
export function makeTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** The `otpauth:` URL that an app reads from the QR code shown at enrolment. */
export function writeTotpUrl(secret: string, email: string): string {
  return createTotp(secret, email).toString();
}

/** The number of the time step that has this code, or null for a wrong code. */
export function findTotpStep(secret: string, code: string, nowMs: number): bigint | null {
  const totp = createTotp(secret, '');
  const delta = totp.validate({ token: code, timestamp: nowMs, window: STEPS_TO_EACH_SIDE });
  return delta === null ? null : BigInt(totp.counter({ timestamp: nowMs }) + delta);
}

function createTotp(secret: string, label: string): TOTP {
  return new TOTP({ issuer: ISSUER, label, secret: Secret.fromBase32(secret) });
}
