// Removes what a vendor repeats of the caller's own prompt, so that the prompt stays where it is encrypted.

import { cutAtWhiteSpace } from './length.ts';

/** Shorter repetitions are ordinary words and stay. */
const ECHO_CHARACTERS_MIN = 12;
/** Longer texts of vendors lose their end. */
const TEXT_LENGTH_MAX = 65_536;

/**
 * The text with every stretch that also stands in the prompt (12 characters or more, whatever the case)
 * replaced by "[prompt]". A prompt shorter than that is replaced where it stands whole. Takes time linear in
 * both lengths. A text of more than 65,536 characters loses its end.
 */
export function withoutEcho(whole: string, prompt: string): string {
  const text = cutAtWhiteSpace(whole, TEXT_LENGTH_MAX);
  const pieceLength = Math.min(ECHO_CHARACTERS_MIN, prompt.length);
  if (pieceLength < 3) return text;
  const lowerPrompt = prompt.toLowerCase();
  const lowerText = text.toLowerCase();
  // Some letters change their length in lower case: positions then no longer correspond, and nothing is kept.
  if (lowerText.length !== text.length) return lowerText.includes(lowerPrompt) ? '[prompt]' : text;
  const pieces = new Set<string>();
  for (let start = 0; start + pieceLength <= lowerPrompt.length; start += 1)
    pieces.add(lowerPrompt.slice(start, start + pieceLength));

  let kept = '';
  let echoEnd = 0;
  for (let position = 0; position < text.length; position += 1) {
    if (pieces.has(lowerText.slice(position, position + pieceLength))) {
      if (position >= echoEnd) kept += '[prompt]';
      echoEnd = position + pieceLength;
    }
    if (position >= echoEnd) kept += text.charAt(position);
  }
  return kept;
}
