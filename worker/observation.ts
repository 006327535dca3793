// Counts and traces activities and calls to vendors.
import { activityInfo } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { WebhookDependencies } from '../activities/dependencies.ts';
import type { ObserveCall, ObservedCall } from '../providers/observed.ts';
import { UpstreamFailure } from '../providers/provider.ts';
import type { TraceAttributes, Tracing } from '../runtime/tracing-types.ts';

/** From one SQL statement to an image that takes minutes. */
const SECONDS_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** Activities that end a task; they answer its final status. */
const SETTLING = new Set(['charge', 'recordFailure', 'recordCancellation']);

/**
 * Counts activities by outcome and tasks by final status. Wraps the boundary, so that it sees the errors that
 * leave it.
 */
export function observeActivities(registry: Registry): ActivityInboundCallsInterceptor {
  const registers = [registry];
  const duration = new Histogram({
    name: 'svc_activity_duration_seconds',
    help: 'One try of an activity, by its outcome',
    labelNames: ['activity', 'outcome'],
    buckets: SECONDS_BUCKETS,
    registers,
  });
  const ended = new Counter({
    name: 'svc_tasks_ended_total',
    help: 'Tasks settled: completed ones were charged, the credits of the others were released',
    labelNames: ['status'],
    registers,
  });
  return {
    execute: async (input, next) => {
      const { activityType: activity } = activityInfo();
      const stop = duration.startTimer({ activity });
      try {
        const result = await next(input);
        stop({ outcome: 'ok' });
        if (SETTLING.has(activity)) ended.inc({ status: statusOf(result) });
        return result;
      } catch (error) {
        stop({ outcome: 'failed' });
        throw error;
      }
    },
  };
}

/** Measures every call to a vendor, by outcome, and traces it. */
export function observeUpstream(registry: Registry, tracing: Tracing | null): ObserveCall {
  const duration = new Histogram({
    name: 'svc_upstream_call_duration_seconds',
    help: 'Calls to vendors by adapter and step; the outcome is ok or the class of the error',
    labelNames: ['provider', 'call', 'outcome'],
    buckets: SECONDS_BUCKETS,
    registers: [registry],
  });
  return async (call, work) => {
    const stop = duration.startTimer({ provider: call.provider.name, call: call.step });
    const traced = tracing
      ? () => tracing.step(`upstream ${call.step}`, describeCall(call), work, classOf)
      : work;
    try {
      const result = await traced();
      stop({ outcome: 'ok' });
      return result;
    } catch (error) {
      stop({ outcome: classOf(error) });
      throw error;
    }
  };
}

/** Counts attempts to deliver webhooks by what came of them, and how long they took. */
export function observeWebhooks(registry: Registry): WebhookDependencies['observe'] {
  const duration = new Histogram({
    name: 'svc_webhook_attempt_duration_seconds',
    help: 'Attempts to deliver webhooks; the outcome is delivered or why not',
    labelNames: ['outcome'],
    buckets: SECONDS_BUCKETS,
    registers: [registry],
  });
  return (outcome, seconds) => duration.observe({ outcome }, seconds);
}

/**
 * A call to a vendor as attributes; a hand-over also in OpenTelemetry's words for generative AI, without
 * content.
 */
function describeCall({ provider, step, model }: ObservedCall): TraceAttributes {
  return {
    'svc.provider': provider.name,
    'svc.call': step,
    'gen_ai.provider.name': provider.family,
    ...(model === null ? {} : { 'gen_ai.operation.name': 'generate_content', 'gen_ai.request.model': model }),
  };
}

function classOf(error: unknown): string {
  return error instanceof UpstreamFailure ? error.errorClass : 'other';
}

function statusOf(result: unknown): string {
  const status: unknown =
    typeof result === 'object' && result !== null ? Reflect.get(result, 'status') : undefined;
  return typeof status === 'string' ? status : 'unknown';
}
