// The fresh proof of identity that some actions need: one question at a time, however many actions ask.
import { createStore } from './store.ts';

interface Question {
  answer: (isVerified: boolean) => void;
}

/** The question that is open; null without one. The dialog watches it. */
export const question = createStore<Question | null>(null);

let asked: Promise<boolean> | null = null;

/** Resolves once the user has verified, or given up. */
export function askForVerification(): Promise<boolean> {
  asked ??= new Promise<boolean>((resolve) => {
    question.set({
      answer: (isVerified) => {
        asked = null;
        question.set(null);
        resolve(isVerified);
      },
    });
  });
  return asked;
}
