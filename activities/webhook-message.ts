// What a receiver gets: the body of an event, and its signature as Standard Webhooks defines it.
import { createHmac, type KeyObject } from 'node:crypto';
import { readEvidence, readMicroCredits, readPrice } from '../db/columns.ts';
import type { WebhookEventToSend } from '../db/webhooks/to-send.ts';
import { toCredits } from '../domain/credits.ts';
import { viewTask } from '../domain/task-view.ts';
import type { WebhookHeader, WebhookMessage } from '../domain/webhooks.ts';

/** Writes the body: for tasks, `data` is the owner's view without the prompt. */
export function writeBody(event: WebhookEventToSend, linkTo: (key: string) => string): string {
  return JSON.stringify(composeMessage(event, linkTo));
}

function composeMessage(
  { id, type, createdAt, ended, data }: WebhookEventToSend,
  linkTo: (key: string) => string,
): WebhookMessage {
  const timestamp = createdAt.toISOString();
  if (type === 'balance.low') return { type, timestamp, data: lowBalanceOf(data) };
  if (type === 'webhook.test') return { type, timestamp, data: { webhookId: data['webhookId'] ?? '' } };
  if (!ended) throw new Error(`the event ${id} has no task`);
  const { task, evidence } = ended;
  const view = viewTask(task, {
    price: readPrice(task.price),
    evidence: readEvidence(evidence),
    refunded: 0n, // nothing was given back yet when it ended
    requestPayload: task.requestPayload, // stored without the prompt
    linkTo,
  });
  return { type, timestamp, data: view };
}

function lowBalanceOf({ balance = '0', reserved = '0', balanceBelow = '0' }: WebhookEventToSend['data']) {
  const [held, setAside] = [readMicroCredits(balance), readMicroCredits(reserved)];
  return {
    balance: toCredits(held),
    reserved: toCredits(setAside),
    available: toCredits(held - setAside),
    balanceBelow: toCredits(readMicroCredits(balanceBelow)),
  };
}

/** The headers of one attempt. Each key signs, so that a receiver may know either one of two. */
export function signHeaders(
  body: string,
  { eventId, keys, now }: { eventId: string; keys: readonly KeyObject[]; now: Date },
): Record<string, string> & Record<WebhookHeader, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const signed = `${eventId}.${timestamp}.${body}`;
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'svc-gateway-webhooks',
    accept: '*/*',
    'accept-encoding': 'identity',
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
