// The dialog that asks for a fresh proof of identity.
import type { Page } from 'playwright-core';

/** Answers the question with the password, once it is asked. */
export async function proveIdentity(page: Page, password: string): Promise<void> {
  const asked = page.getByRole('dialog', { name: 'Is it you?' });
  await asked.getByLabel('Password').fill(password);
  await asked.getByRole('button', { name: 'Verify' }).click();
}
