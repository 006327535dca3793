// Prometheus metrics of the chat calls under way in this process, and of the connections that they share.
import { Gauge, type Registry } from 'prom-client';
import type { ChatServices } from '../services.ts';

export function addChatMetrics(registry: Registry, { running, upstreams }: ChatServices): void {
  const registers = [registry];
  const calls: Gauge = new Gauge({
    name: 'svc_chat_calls_running',
    help: 'Chat calls under way',
    registers,
    collect: () => calls.set(running.running),
  });
  const taken: Gauge = new Gauge({
    name: 'svc_chat_connections_in_use',
    help: 'Connections to chat upstreams in use',
    registers,
    collect: () => taken.set(upstreams.connectionLoad().taken),
  });
  const waiting: Gauge = new Gauge({
    name: 'svc_chat_connections_waiting',
    help: 'Chat calls that wait for a connection, because their user has as many as are free',
    registers,
    collect: () => waiting.set(upstreams.connectionLoad().waiting),
  });
}
