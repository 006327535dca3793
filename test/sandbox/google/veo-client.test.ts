// Google's own client finds in the sandbox's Veo what it expects of Google.

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
    const vertex = (): GoogleGenAI =>
      new GoogleGenAI({
        vertexai: true,
        project: 'p-1',
        location: 'us-central1',
        httpOptions: { baseUrl: `${sandbox().url}/google`, apiVersion: 'v1', headers: VERTEX_HEADERS },
        // Keeps the client from asking Google for a token.
        googleAuthOptions: { apiKey: 'unused' },
      });
    const image = { imageBytes: IMAGE.bytesBase64Encoded, mimeType: 'image/png' };

    it('offers no videos on the Gemini API any more', async () => {
      const options = { baseUrl: `${sandbox().url}/google` };
      const gemini = new GoogleGenAI({ apiKey: 'AIza-test', httpOptions: options });
      const asked = gemini.models.generateVideos({ model: MODEL, source: { prompt: newPrompt().prompt } });
      expect(String(await asked.catch((error: unknown) => error))).to.include(
        'only supported by the Gemini Enterprise',
      );
    });

    it('makes a video on Vertex from two frames', async () => {
      const { prompt, marker } = newPrompt('seconds=0');
      const started = await vertex().models.generateVideos({
        model: 'veo-3.1-generate-001',
        source: { prompt, image },
        config: {
          lastFrame: image,
          durationSeconds: 8,
          resolution: '1080p',
          aspectRatio: '9:16',
          numberOfVideos: 1,
        },
      });
      expect(started.done).to.not.equal(true);
      await vertex().operations.getVideosOperation({ operation: started });
      const [job] = await readJobs(sandbox(), marker);
      expect(job?.['ordered']).to.include({ durationSeconds: 8, resolution: '1080p', inputImages: 2 });
      const operations = (await readJournal(sandbox(), marker)).map(({ operation: word }) => word);
      expect(operations).to.eql(['submit', 'poll']);
    });

    it('throws errors of the request, and reports those of the operation', async () => {
      const generate = (directives: string): Promise<GenerateVideosOperation> =>
        vertex().models.generateVideos({
          model: 'veo-3.1-generate-001',
          source: { prompt: newPrompt(directives).prompt },
        });
      const refused = await generate('submit=429').catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(ApiError).with.property('status', 429);
      const failed = await vertex().operations.getVideosOperation({
        operation: await generate('seconds=0 outcome=fail'),
      });
      expect(failed.error).to.include({ code: 13 });
      const filtered = await vertex().operations.getVideosOperation({
        operation: await generate('seconds=0 outcome=moderated'),
      });
      expect(filtered.response).to.include({ raiMediaFilteredCount: 1 });
    });

    it('makes a video on Vertex from references, and has it in the answer', async () => {
      const started = await vertex().models.generateVideos({
        model: 'veo-3.1-generate-001',
        source: { prompt: newPrompt('seconds=0').prompt },
        config: {
          referenceImages: [{ image, referenceType: VideoGenerationReferenceType.ASSET }],
          generateAudio: false,
        },
      });
      const operation = await vertex().operations.getVideosOperation({ operation: started });
      const bytes = operation.response?.generatedVideos?.[0]?.video?.videoBytes ?? '';
      expect(Buffer.from(bytes, 'base64').toString('latin1', 4, 8)).to.equal('ftyp');
    });
  });
});
