// Makes a text from outside fit to be stored.

/**
 * The text without NUL, and with half characters replaced: PostgreSQL stores neither in `text` or `jsonb`.
 */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
