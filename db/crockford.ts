// Crockford's base 32, in which ids and codes for people are written.

/** No I, L, O and U: they are mistaken for digits, or make words. */
export const CROCKFORD_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Reads what people type: upper case, and digits for the letters that look like them. */
export function correctLookalikes(text: string): string {
  return text.toUpperCase().replaceAll('O', '0').replaceAll(/[IL]/g, '1');
}
