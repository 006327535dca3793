// Arguments of commands: read strictly, and refused in one sentence.
import { z } from 'zod';
import { EMAIL_CHARACTERS_MAX, normaliseEmail } from '../db/identity/users.ts';
import { parseCredits, type MicroCredits } from '../domain/credits.ts';
import { Refusal } from './program.ts';

const NOTE_CHARACTERS_MAX = 200;
const CREDITS_MAX = 1_000_000_000;

export function readEmail(text: string): string {
  const email = normaliseEmail(text);
  if (z.email().max(EMAIL_CHARACTERS_MAX).safeParse(email).success) return email;
  throw new Refusal(`"${text}" is not an e-mail address.`);
}

export function readText(what: string, text: string, charactersMax: number): string {
  const trimmed = text.trim();
  if (trimmed !== '' && [...trimmed].length <= charactersMax) return trimmed;
  throw new Refusal(`${what} must have 1 to ${charactersMax} characters.`);
}

/** The words that stand in the user's ledger. */
export function readNote(text: string): string {
  return readText('NOTE', text, NOTE_CHARACTERS_MAX);
}

export function readCredits(text: string): MicroCredits {
  const isPlain = /^\d{1,10}(\.\d{1,6})?$/.test(text) && Number(text) <= CREDITS_MAX;
  const credits = isPlain ? parseCredits(text) : 0n;
  if (credits > 0n) return credits;
  throw new Refusal(`"${text}" is no amount of credits: a number above 0 with at most 6 decimals.`);
}
