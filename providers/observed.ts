// Wraps a provider so that the duration and outcome of its calls can be observed.
import type { Provider } from './provider.ts';

export type UpstreamStep = 'submit' | 'poll' | 'cancel';

/** Runs the work and returns or throws its outcome unchanged. */
export type ObserveCall = <Result>(
  provider: string,
  step: UpstreamStep,
  work: () => Promise<Result>,
) => Promise<Result>;

/** The same provider with observed calls. Methods that the provider lacks stay absent. */
export function observeProvider(provider: Provider, observe: ObserveCall): Provider {
  const { name, poll, cancel } = provider;
  return {
    ...provider,
    submit: (job, signal) => observe(name, 'submit', () => provider.submit(job, signal)),
    ...(poll ? { poll: (handle, signal) => observe(name, 'poll', () => poll(handle, signal)) } : {}),
    ...(cancel ? { cancel: (handle, signal) => observe(name, 'cancel', () => cancel(handle, signal)) } : {}),
  };
}
