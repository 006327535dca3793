// Wraps a provider so that the duration and outcome of its calls can be observed; look-ups, which are rare,
// pass unobserved.
import type { Provider } from './provider.ts';

export type UpstreamStep = 'submit' | 'poll' | 'cancel';

export interface ObservedCall {
  provider: Pick<Provider, 'name' | 'family'>;
  step: UpstreamStep;
  /** The vendor's name of the model that is asked for work; null for calls about work that it has. */
  model: string | null;
}

/** Runs the work and returns or throws its outcome unchanged. */
export type ObserveCall = <Result>(call: ObservedCall, work: () => Promise<Result>) => Promise<Result>;

/** The same provider with its steps observed. Methods that the provider lacks stay absent. */
export function observeProvider(provider: Provider, observe: ObserveCall): Provider {
  const { poll, cancel } = provider;
  const polled = { provider, step: 'poll', model: null } as const;
  const cancelled = { provider, step: 'cancel', model: null } as const;
  return {
    ...provider,
    submit: (job, signal) =>
      observe({ provider, step: 'submit', model: job.upstreamModel }, () => provider.submit(job, signal)),
    ...(poll ? { poll: (handle, signal) => observe(polled, () => poll(handle, signal)) } : {}),
    ...(cancel ? { cancel: (handle, signal) => observe(cancelled, () => cancel(handle, signal)) } : {}),
  };
}
