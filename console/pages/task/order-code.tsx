// The order of a task as programs would send it: curl, Python and TypeScript. Beside it, the request as it
// is kept.
import { useState } from 'preact/hooks';
import { apiBase } from '../../data/addresses.ts';
import type { Task } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Code } from '../../ui/parts.tsx';
import { orderOf } from './price-lines.tsx';

const ROUTES = {
  image: '/v1/images/generations',
  video: '/v1/videos/generations',
  text: '/v1/chat/completions',
};
const WRITERS = { curl: writeCurl, Python: writePython, TypeScript: writeTypeScript } as const;
type Tab = keyof typeof WRITERS | 'payload';

export function OrderCode({ task }: { task: Task }) {
  const [tab, setTab] = useState<Tab>('curl');
  const names: Tab[] = ['curl', 'Python', 'TypeScript', 'payload'];
  const text = tab === 'payload' ? JSON.stringify(task.requestPayload, null, 2) : WRITERS[tab](task);
  return (
    <section class="card">
      <div class="card-head">
        <h2>{t.task.code}</h2>
      </div>
      <div class="card-body stack">
        <div class="tabs" role="tablist" aria-label={t.task.code}>
          {names.map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              aria-selected={name === tab}
              onClick={() => setTab(name)}
            >
              {name === 'payload' ? t.task.payload : name}
            </button>
          ))}
        </div>
        {tab === 'payload' && <p class="small faint">{t.task.payloadNote}</p>}
        <Code text={text} label={tab} />
      </div>
    </section>
  );
}

/** The body for `/v1`, where the path says what `mode` says here. */
function bodyOf(task: Task): Record<string, unknown> {
  const { mode, prompt, ...rest } = orderOf(task) as Record<string, unknown>;
  if (mode !== 'text' || prompt === undefined) return { ...rest, ...(prompt !== undefined && { prompt }) };
  return { ...rest, messages: [{ role: 'user', content: prompt }] };
}

function writeCurl(task: Task): string {
  const body = JSON.stringify(bodyOf(task), null, 2).replaceAll("'", String.raw`'\''`);
  return [
    `curl -s ${apiBase()}${ROUTES[task.mode]} \\`,
    "  -H 'Authorization: Bearer sk-svc_…' \\",
    "  -H 'Content-Type: application/json' \\",
    `  -d '${body}'`,
  ].join('\n');
}

function writePython(task: Task): string {
  return [
    'import json, urllib.request',
    '',
    'request = urllib.request.Request(',
    `    "${apiBase()}${ROUTES[task.mode]}",`,
    `    data=json.dumps(json.loads(r"""${JSON.stringify(bodyOf(task))}""")).encode(),`,
    '    headers={"Authorization": "Bearer sk-svc_…", "Content-Type": "application/json"},',
    ')',
    'print(json.load(urllib.request.urlopen(request)))',
  ].join('\n');
}

function writeTypeScript(task: Task): string {
  return [
    `const response = await fetch('${apiBase()}${ROUTES[task.mode]}', {`,
    "  method: 'POST',",
    "  headers: { authorization: 'Bearer sk-svc_…', 'content-type': 'application/json' },",
    `  body: JSON.stringify(${JSON.stringify(bodyOf(task), null, 2).replaceAll('\n', '\n  ')}),`,
    '});',
    'console.log(await response.json());',
  ].join('\n');
}
