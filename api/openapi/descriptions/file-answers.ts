// Describes the answers that send a stored file, whole or in part.
import type { ResponseDescription } from '../route-description.ts';

/** Describes the answers with a file; `media` has what each content type means. */
export function describeFile(media: Readonly<Record<string, string>>) {
  const headers = { 'content-disposition': 'always', 'accept-ranges': 'always' } as const;
  return {
    200: { description: 'The file.', media, headers },
    206: {
      description: 'The part that `Range` asks for, where that is one part.',
      media,
      headers: { ...headers, 'content-range': 'always' },
    },
  } as const satisfies Record<number, ResponseDescription>;
}
