// Forms what the page of the rehearsal shows: paragraphs, times, and sections that stay.

/** A section of a page with its head, up to the next one; nothing where the page has none. */
export function keepSection(page: string, head: string): string[] {
  const [, rest] = page.split(`${head}\n`);
  return rest === undefined ? [] : [head, ...(rest.split('\n## ')[0] ?? '').split('\n')];
}

/** As in 2026-11-22 10:05. */
export function timeOf(date: Date): string {
  return date.toISOString().slice(0, 16).replace('T', ' ');
}

/** Breaks a paragraph or an item of a list into lines of the width of the documents. */
export function wrap(text: string): string[] {
  const indent = text.startsWith('- ') ? '  ' : '';
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && `${last} ${word}`.length <= 118) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(lines.length === 0 ? word : `${indent}${word}`);
  }
  return lines;
}
