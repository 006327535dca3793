// The names that callers give their files: shown to callers again, never used as a path.

const BYTES_MAX = 255;
/** An extension longer than this is part of the name. */
const EXTENSION_CHARACTERS_MAX = 16;
const NAMELESS = 'file';
/** Control characters, line separators, and marks that turn the direction of the text around them. */
const INVISIBLE = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/gu;

/** Takes the last part of a path, without invisible characters, at most 255 bytes of UTF-8; never empty. */
export function cleanFileName(text: string): string {
  const visible = text.toWellFormed().replaceAll(INVISIBLE, '');
  const name = visible.slice(Math.max(visible.lastIndexOf('/'), visible.lastIndexOf('\\')) + 1).trim();
  return /^\.*$/.test(name) ? NAMELESS : shorten(name);
}

function shorten(name: string): string {
  if (bytesIn(name) <= BYTES_MAX) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && name.length - dot <= EXTENSION_CHARACTERS_MAX ? name.slice(dot) : '';
  let bytesLeft = BYTES_MAX - bytesIn(extension);
  let stem = '';
  for (const character of name.slice(0, name.length - extension.length)) {
    bytesLeft -= bytesIn(character);
    if (bytesLeft < 0) break;
    stem += character;
  }
  return `${stem}${extension}`;
}

function bytesIn(text: string): number {
  return new TextEncoder().encode(text).length;
}
