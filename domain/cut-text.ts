// Cuts a text between characters, so that what is stored or sent stays well-formed.

/**
 * Cuts to at most `lengthMax` UTF-16 units, never between the two halves of a character: half of one is no
 * Unicode, and PostgreSQL refuses it.
 */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const last = text.charCodeAt(lengthMax - 1);
  const endsInHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, endsInHalf ? lengthMax - 1 : lengthMax);
}
