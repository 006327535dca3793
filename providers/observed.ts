// Lets somebody watch the calls to a vendor: how long each takes, and how it ends.
import type { Provider } from './provider.ts';

export type UpstreamStep = 'submit' | 'poll' | 'cancel';

/** Runs the work and passes on how it ends, unchanged. */
export type ObserveCall = <Result>(
  provider: string,
  step: UpstreamStep,
  work: () => Promise<Result>,
) => Promise<Result>;

/** The same provider, watched. What a vendor cannot do stays absent. */
export function observeProvider(provider: Provider, observe: ObserveCall): Provider {
  const { name, poll, cancel } = provider;
  return {
    ...provider,
    submit: (job, signal) => observe(name, 'submit', () => provider.submit(job, signal)),
    ...(poll ? { poll: (handle, signal) => observe(name, 'poll', () => poll(handle, signal)) } : {}),
    ...(cancel ? { cancel: (handle, signal) => observe(name, 'cancel', () => cancel(handle, signal)) } : {}),
  };
}
