// Codes as words.

/** `LOG_IN` as `Log in`. */
export function wordsOf(code: string): string {
  const words = code.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
