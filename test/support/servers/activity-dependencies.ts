// What activities are given in tests: the services of a gateway.
import type { ActivityDependencies, WebhookDependencies } from '../../../activities/dependencies.ts';
import type { Services } from '../../../api/services.ts';
import type { Config } from '../../../config/config.ts';
import { createProviders } from '../../../providers/registry.ts';
import { webhookDependencies } from './webhook-dependencies.ts';

/** Makes the dependencies as the worker does, with the services instead of its own. */
export function dependenciesOf(
  config: Config,
  services: Services,
  webhooks?: Partial<WebhookDependencies>,
): ActivityDependencies {
  const { database, secrets, storage, taskWorkflows, log, lossBrake } = services;
  const { runningTasksPerUserMax, requestKeptDays, retention, chatLeaseSeconds } = config;
  return {
    ...{ database, secrets, storage, taskRuns: taskWorkflows, log, lossBrake },
    ...{ runningTasksPerUserMax, requestKeptDays, retention, chatLeaseSeconds },
    providers: createProviders(config),
    models: config.catalog.models,
    webhooks: webhookDependencies(services, webhooks),
  };
}
