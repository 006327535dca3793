// JSON of uploaded files, for their owner.
import { z } from 'zod';
import { isVideoType, MEDIA_TYPES, type MediaType } from '../../domain/files/media-types.ts';
import { id, instant } from './basics.ts';

const types = (Object.keys(MEDIA_TYPES) as MediaType[]).filter(isVideoType);

export const UPLOAD = z
  .strictObject({
    id: id('file'),
    object: z.literal('file'),
    filename: z.string().describe('As you called it, without a path and what nobody can see.'),
    contentType: z.enum(types).describe('By its content.'),
    bytes: z.int().min(1),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    url: z
      .url()
      .describe(
        'Signed link, good until `expiresAt`. Whoever has it may download the file; put it into `video_urls`.',
      ),
    createdAt: instant,
    expiresAt: instant.describe('The file is removed then, or when the last task that needs it has ended.'),
  })
  .meta({ id: 'File', description: 'A file you uploaded.' });
export type UploadView = z.output<typeof UPLOAD>;
