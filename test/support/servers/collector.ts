// A collector of traces for tests: takes OTLP as JSON over HTTP and keeps the spans.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { listen } from '../../../runtime/listener.ts';

const attribute = z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) });
const span = z.looseObject({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  attributes: z.array(attribute).default([]),
});
const request = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(attribute) }),
      scopeSpans: z.array(z.object({ spans: z.array(span) })),
    }),
  ),
});

export interface CollectedSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  attributes: Record<string, unknown>;
}

export interface Collector {
  url: string;
  spans(): readonly CollectedSpan[];
  /** All requests as text. */
  text(): string;
  close(): void;
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const texts: string[] = [];
  const server = createServer(async (req, res) => {
    const body: unknown = await json(req);
    texts.push(JSON.stringify(body));
    for (const { resource, scopeSpans } of request.parse(body).resourceSpans) {
      const service = String(valuesOf(resource.attributes)['service.name']);
      for (const { attributes, traceId, spanId, parentSpanId, name } of scopeSpans.flatMap((s) => s.spans))
        spans.push({ service, traceId, spanId, parentSpanId, name, attributes: valuesOf(attributes) });
    }
    res.setHeader('content-type', 'application/json').end('{}');
  });
  const port = await listen(server, 0, '127.0.0.1');
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () => spans,
    text: () => texts.join('\n'),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function valuesOf(attributes: z.infer<typeof attribute>[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
