// Masking leaves harmless text as it is, also where it resembles a secret.
import { expect } from 'chai';
import { maskPayload, maskText } from '../../../domain/masking/masking.ts';

describe('harmless text', () => {
  const harmless = [
    'A cat in a hat, at 10:30, ratio 16:9, scale 1.5, version 1.2.3 of 2024-05-01T10:00:00.000Z',
    '一只猫坐在屋顶上：月光、薄雾，「电影感」，比例16:9，请保持人物一致。token：代币',
    'Basic shapes in blue, the bearer of bad news, BASIC INSTINCT, Basic 3D render, Bearer',
    'The token: a small coin. The secret: a love story. Authorization: a poem. Password: the movie. Key: C minor',
    '123e4567-e89b-12d3-a456-426614174000 task_01ABCDEFGHJKMNPQRSTVWXYZ0 req_0123456789abcdef',
    'd41d8cd98f00b204e9800998ecf8427e da39a3ee5e6b4b0d3255bfef95601890afd80709',
    'doubao-seedance-1-0-pro-250528 gpt-4o-mini-2024-07-18 sora-2-pro kling-v2-1-master wan2.2-t2v-plus veo-3.1',
    'sk-learn-compatible-estimators, task-1234567890abcdef1234, disk-0123456789abcdef0123456789, highp_float_precision_2',
    'sk-learn\nnumpy\npandas2\nscipy',
    '100% cotton, 50%20 off, C:\\new\\table, "quoted \\"words\\"", a\\b, 👩‍👩‍👧 family\u200b',
    'The data: a, b and c; metadata:x, starts with https:// and nothing else',
    `${'-'.repeat(300)}\n${'_'.repeat(300)}\n${'='.repeat(300)}`,
    'word '.repeat(5_000),
    '{"prompt": "a cat",\n  "size": [1, 2.50]}',
    '["an unfinished list',
    'in 4k@60fps, lodash@4.17.21, follow @someone, 12:30@home',
    '[masked:url] [masked] [masked:base64 200] [masked:data-uri image/png 12345]',
    'max_tokens=100, "max_tokens": 100, tokens=5',
    '',
  ];
  for (const text of harmless) {
    it(`stays as it is: ${text.slice(0, 50).replace(/\s/g, ' ')}`, () => {
      expect(maskPayload({ prompt: text, list: [text] })).to.deep.equal({ prompt: text, list: [text] });
      expect(maskText(text)).to.equal(text);
    });
  }
});
