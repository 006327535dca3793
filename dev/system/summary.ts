// Prints the summary of `npm start`: addresses, logins, and three commands to try.
import { z } from 'zod';
import type { StartSettings } from './settings.ts';
import type { SystemSummary } from './parts.ts';

export async function writeSummary(
  summary: SystemSummary,
  settings: StartSettings,
  seconds: number,
): Promise<string> {
  const { demo, baseUrl } = summary;
  const model = await findImageModel(baseUrl, demo.apiKey);
  const vendors =
    summary.sandboxUrl === null
      ? 'the real ones'
      : `${summary.sandboxUrl} plays ${settings.sandboxFamilies.map(({ prefix }) => prefix).join(', ')}`;
  const rows: [string, string][] = [
    ['console', `${baseUrl}/console/`],
    ['log in with', `${demo.user.email}  ${demo.user.password}`],
    ['administrator', `${demo.admin.email}  ${demo.admin.password}`],
    ['API', baseUrl],
    ['demo key', demo.apiKey],
    ['Temporal UI', summary.temporalUiUrl ?? `of ${summary.temporalAddress}`],
    ['vendors', vendors],
    ['health', `${summary.internalUrl}/readyz`],
    ['of the worker', `${summary.workerInternalUrl}/readyz`],
    ['data and logs', settings.dataDir],
  ];
  const table = rows.map(([name, value]) => `  ${name.padEnd(14)} ${value}`);
  return [
    '',
    `The gateway runs (${seconds.toFixed(1)} s). Ctrl-C stops it.`,
    '',
    ...table,
    '',
    'Try it:',
    '',
    ...commands(baseUrl, demo.apiKey, model),
    '',
  ].join('\n');
}

function commands(baseUrl: string, apiKey: string, model: string): string[] {
  const authorization = `-H 'Authorization: Bearer ${apiKey}'`;
  const body = JSON.stringify({ model, prompt: 'a lighthouse at dusk' });
  return [
    '  # create an image',
    `  curl -s ${baseUrl}/v1/images/generations ${authorization} -H 'Content-Type: application/json' -d '${body}'`,
    '  # read it, with the id from that answer',
    `  curl -s ${baseUrl}/v1/images/tasks/ID ${authorization}`,
    '  # what is left on the account',
    `  curl -s ${baseUrl}/v1/balance ${authorization}`,
  ];
}

const MODEL_LIST = z.object({ data: z.array(z.object({ id: z.string(), kind: z.string() })) });

/** Finds an image model that the catalogue in use really offers. */
async function findImageModel(baseUrl: string, apiKey: string): Promise<string> {
  try {
    const response = await fetch(`${baseUrl}/v1/models`, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(3_000),
    });
    const { data } = MODEL_LIST.parse(await response.json());
    return data.find((model) => model.kind === 'image')?.id ?? 'MODEL';
  } catch {
    // The rest of the summary is true without a model.
    return 'MODEL';
  }
}
