// The registry: which adapters an installation has.
import { expect } from 'chai';
import { createProviders } from '../../providers/registry.ts';

const credentials = [{ id: 'default', key: 'k' }];

describe('the registry of providers', () => {
  it('has the adapters whose family has a credential, and no others', () => {
    const providers = createProviders({
      families: {
        openai: { baseUrl: 'https://api.openai.com/v1/', credentials },
        grok: { baseUrl: 'https://api.x.ai/v1', credentials: [] },
        unknown: { baseUrl: 'https://example.com', credentials },
      },
      upstreamTimeoutMs: 1_000,
    });
    expect(providers.families()).to.deep.equal(['openai']);
    expect(providers.get('openai-images')).to.include({ family: 'openai', delivery: 'immediate' });
    expect(providers.get('grok-video')).to.equal(undefined);
    expect(providers.get('constructor')).to.equal(undefined);
  });

  it('refuses a base URL that is none', () => {
    const families = { openai: { baseUrl: 'api.openai.com', credentials } };
    expect(() => createProviders({ families, upstreamTimeoutMs: 1 })).to.throw(TypeError);
  });
});
