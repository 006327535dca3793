// Makes CSV files in the browser.
import { download } from './download.ts';

export type Cell = string | number | boolean | null | undefined;

/** Offers the rows as a file, with a first line of names. */
export function downloadCsv(
  name: string,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
): void {
  const text = [columns, ...rows].map((row) => row.map(writeCell).join(',')).join('\r\n');
  // The mark at the beginning makes spreadsheets read the file as UTF-8.
  const url = URL.createObjectURL(new Blob(['\uFEFF', text, '\r\n'], { type: 'text/csv;charset=utf-8' }));
  download(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Quotes what needs it. A text that a spreadsheet would take for a formula gets a quote in front. */
function writeCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
