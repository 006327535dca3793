// Secrets for the tests of masking, and ways to disguise them.

export const OWN_KEY = `sk-svc_${'Ab3dEf6hIj'.repeat(5).slice(0, 49)}`;
export const JWT = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${'dBjftJeZ4CVP'.repeat(3)}`;
export const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEow'.repeat(10)}\nAbCd==\n-----END RSA PRIVATE KEY-----`;

export const ZERO_WIDTH = '\u200b';
export const spaceOut = (text: string): string => [...text].join(ZERO_WIDTH);
export const escapeAll = (text: string): string =>
  [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');
