// Google's own client finds in the sandbox's Veo what it expects of Google.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ApiError,
  GoogleGenAI,
  type GenerateVideosOperation,
  VideoGenerationReferenceType,
} from '@google/genai';
import { expect } from 'chai';
import { newPrompt, readJobs, readJournal } from '../support.ts';
import { IMAGE, MODEL, useVeo, VERTEX_HEADERS } from './veo-support.ts';

describe('sandbox: Veo', () => {
  const { sandbox } = useVeo();

  describe("Google's own client", () => {
    let folder = '';
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'svc-gateway-veo-'));
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    const gemini = (): GoogleGenAI =>
      new GoogleGenAI({ apiKey: 'AIza-test', httpOptions: { baseUrl: `${sandbox().url}/google` } });

    it('makes a video on the Gemini API from two frames, polls it and downloads it', async () => {
      const { prompt, marker } = newPrompt('seconds=0');
      const frame = { imageBytes: IMAGE.bytesBase64Encoded, mimeType: 'image/png' };
      const started = await gemini().models.generateVideos({
        model: MODEL,
        source: { prompt, image: frame },
        config: {
          lastFrame: frame,
          durationSeconds: 8,
          resolution: '1080p',
          aspectRatio: '9:16',
          numberOfVideos: 1,
        },
      });
      expect(started.done).to.not.equal(true);
      const operation = await gemini().operations.getVideosOperation({ operation: started });
      const [generated] = operation.response?.generatedVideos ?? [];
      // The client recognizes a file's name only in a link with TLS.
      const uri = generated?.video?.uri?.replace('http:', 'https:') ?? '';
      const downloadPath = join(folder, 'video.mp4');
      await gemini().files.download({ file: { video: { uri } }, downloadPath });
      expect(readFileSync(downloadPath).toString('latin1', 4, 8)).to.equal('ftyp');
      const [job] = await readJobs(sandbox(), marker);
      expect(job?.['ordered']).to.include({ durationSeconds: 8, resolution: '1080p', inputImages: 2 });
      const operations = (await readJournal(sandbox(), marker)).map(({ operation: word }) => word);
      expect(operations).to.eql(['submit', 'poll', 'download', 'download']);
    });

    it('throws errors of the request, and reports those of the operation', async () => {
      const generate = (directives: string): Promise<GenerateVideosOperation> =>
        gemini().models.generateVideos({ model: MODEL, source: { prompt: newPrompt(directives).prompt } });
      const refused = await generate('submit=429').catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(ApiError).with.property('status', 429);
      const failed = await gemini().operations.getVideosOperation({
        operation: await generate('seconds=0 outcome=fail'),
      });
      expect(failed.error).to.include({ code: 13 });
      const filtered = await gemini().operations.getVideosOperation({
        operation: await generate('seconds=0 outcome=moderated'),
      });
      expect(filtered.response).to.include({ raiMediaFilteredCount: 1 });
    });

    it('makes a video on Vertex from references, and has it in the answer', async () => {
      const vertex = new GoogleGenAI({
        vertexai: true,
        project: 'p-1',
        location: 'us-central1',
        httpOptions: { baseUrl: `${sandbox().url}/google`, apiVersion: 'v1', headers: VERTEX_HEADERS },
        // Keeps the client from asking Google for a token.
        googleAuthOptions: { apiKey: 'unused' },
      });
      const image = { imageBytes: IMAGE.bytesBase64Encoded, mimeType: 'image/png' };
      const started = await vertex.models.generateVideos({
        model: 'veo-3.1-generate-001',
        source: { prompt: newPrompt('seconds=0').prompt },
        config: {
          referenceImages: [{ image, referenceType: VideoGenerationReferenceType.ASSET }],
          generateAudio: false,
        },
      });
      const operation = await vertex.operations.getVideosOperation({ operation: started });
      const bytes = operation.response?.generatedVideos?.[0]?.video?.videoBytes ?? '';
      expect(Buffer.from(bytes, 'base64').toString('latin1', 4, 8)).to.equal('ftyp');
    });
  });
});
