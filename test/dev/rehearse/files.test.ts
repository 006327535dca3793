// What the rehearsal adds to docker-compose.yml: the same processes once more, with production's settings.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../../../config/config.ts';
import { buildOverride, fillIn, readServices } from '../../../dev/rehearse/files.ts';
import { soakStage } from '../../../dev/rehearse/soaked-stage.ts';
import { STAND_INS } from '../../../dev/rehearse/stand-ins.ts';
import { VENDOR_FAMILIES } from '../../../dev/system/sandbox-settings.ts';

const project = join(import.meta.dirname, '../../..');
const text = read('docker-compose.yml');
const services = readServices(text);
const override = buildOverride(text).services as Record<string, Record<string, unknown>>;

describe('the files of the rehearsal', () => {
  it('change nothing of docker-compose.yml but where vendors are and how the image is built', () => {
    for (const name of Object.keys(services).filter((name) => name in override)) {
      expect(['migrate', 'api', 'worker']).to.include(name);
      expect(override[name]).to.have.all.keys('build', 'environment', 'volumes');
      for (const variable of Object.keys(override[name]?.['environment'] ?? {}))
        expect(variable).to.match(/_BASE_URL$|^NODE_EXTRA_CA_CERTS$/);
    }
  });

  it('add a second API and a second worker that are the first ones, without a port', () => {
    for (const name of ['api', 'worker']) {
      const { ports: _, build: __, environment, volumes, ...same } = services[name] ?? { image: '' };
      const second = override[`second-${name}`] ?? {};
      expect(second).to.deep.include(same).and.not.have.property('ports');
      const added = override[name]?.['environment'] as object;
      expect(second['environment']).to.deep.equal({ ...(environment as object), ...added });
      expect(second['volumes']).to.include.members(volumes as string[]);
    }
  });

  it('open nothing to the world', () => {
    for (const { ports = [] } of [...Object.values(override), ...Object.values(soakStage())])
      for (const port of ports as string[]) expect(port).to.match(/^127\.0\.0\.1:\d+:\d+$/);
  });

  it('fill .env in so that production accepts it, with every vendor over https', () => {
    const env = Object.fromEntries(
      [...fillIn(read('.env.example')).matchAll(/^([A-Z][A-Z0-9_]*)=(.+)$/gm)].map(([, name, value]) => [
        name,
        value,
      ]),
    );
    const { environment } = override['api'] as { environment: Record<string, string> };
    const required = { NODE_ENV: 'production', DATABASE_URL: 'postgres://svc_app:x@postgres:5432/gateway' };
    const config = loadConfig({ ...env, ...required, ...environment });
    expect(config.production).to.equal(true);
    expect(config.storage).to.include({ kind: 's3', bucket: 'results', endpoint: 'http://bucket:7070' });
    for (const { prefix } of VENDOR_FAMILIES)
      expect(new URL(environment[`${prefix}_BASE_URL`] ?? '').protocol, prefix).to.equal('https:');
    for (const name of ['POSTGRES', 'APP_DATABASE', 'REDIS'])
      expect(env[`${name}_PASSWORD`], name).to.match(/^[0-9a-f]{64}$/);
  });

  it('have a stand-in for every image that is not ours', () => {
    const own = services['api']?.image;
    const named = Object.values(services).flatMap(({ image }) => (image === own ? [] : [image]));
    for (const image of [...named, 'node:']) {
      const standIn = STAND_INS.find((one) => image.startsWith(`${one.image}:`));
      expect(standIn, image).not.to.equal(undefined);
      const dockerfile = read(`dev/rehearse/images/${standIn?.name}.Dockerfile`);
      expect(dockerfile).to.contain('FROM svc-gateway-stand-in/debian:bookworm');
    }
  });
});

function read(path: string): string {
  return readFileSync(join(project, path), 'utf8');
}
