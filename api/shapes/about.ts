// JSON of what a page may know without a login.
import { z } from 'zod';

export const ABOUT = z
  .strictObject({
    name: z.string(),
    version: z.string(),
    publicUrl: z.url().describe('The address of this service as callers know it.'),
    sandbox: z
      .boolean()
      .describe('Vendors are played by a program on this machine: nothing here costs money.'),
    callSecondsMax: z.int().describe('No chat call takes longer.'),
    temporalUiUrl: z.url().nullable().describe('Where administrators find the workflows; null: nowhere.'),
    temporalNamespace: z.string().describe('The namespace that they are in.'),
  })
  .meta({ id: 'About', description: 'What a page may know of this service without a login.' });
export type AboutView = z.output<typeof ABOUT>;
