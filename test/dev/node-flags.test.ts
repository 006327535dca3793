// The API is started with the same flags of Node wherever it runs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { z } from 'zod';
import { SERVER_FLAGS } from '../../dev/node-flags.ts';
import { PROGRAMS } from '../../dev/system/scripts.ts';

const COMPOSE = z.object({ services: z.object({ api: z.object({ command: z.array(z.string()) }) }) });

const read = (file: string): string => readFileSync(join(import.meta.dirname, '../..', file), 'utf8');

describe('the flags of the API', () => {
  const command = ['node', ...SERVER_FLAGS, PROGRAMS.api];

  it('are the same in docker-compose.yml and in the image as in `npm start`', () => {
    const compose = COMPOSE.parse(parse(read('docker-compose.yml'), { merge: true }));
    expect(compose.services.api.command).to.deep.equal(command);
    expect(read('Dockerfile')).to.include(`CMD ["${command.join('", "')}"]`);
  });
});
