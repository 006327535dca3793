// The operators' files: every series that rules and dashboard name exists, every alert has its entry.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { z } from 'zod';
import { createCleanup } from '../support/cleanup.ts';
import { startGateway } from '../support/servers/gateway.ts';
import { startApiProcess, startWorkerProcess } from '../support/servers/process.ts';
import { orderImage } from '../support/tasks.ts';
import { untilFinal } from '../support/until.ts';

const RULES = 'deploy/prometheus/alerts.yml';
const UNIT_TESTS = 'deploy/prometheus/alerts.test.yml';
const DASHBOARD = 'deploy/grafana/gateway.json';
const SERIES = /\b(?:svc|nodejs|process)_[a-z0-9_]+|\bup\b/g;

const rules = z
  .object({
    groups: z.array(
      z.object({
        rules: z.array(
          z.object({
            alert: z.string(),
            expr: z.string(),
            labels: z.object({ severity: z.enum(['page', 'ticket']) }),
            annotations: z.object({ summary: z.string() }),
          }),
        ),
      }),
    ),
  })
  .parse(parse(read(RULES)))
  .groups.flatMap((group) => group.rules);
const panels = z
  .object({ panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })).default([]) })) })
  .parse(JSON.parse(read(DASHBOARD))).panels;

describe('the alert rules and the dashboard', () => {
  const cleanup = createCleanup();
  /** Names of the series that an API and a worker show, with what Prometheus adds itself. */
  const shown = new Set(['up']);

  before(async () => {
    const gateway = await startGateway({ worker: false });
    cleanup.later(() => gateway.stop());
    const owner = await gateway.createUser();
    const worker = await startWorkerProcess(gateway.env);
    cleanup.later(() => worker.kill());
    const api = await startApiProcess(gateway.env);
    cleanup.later(() => api.process.kill());
    const { id } = await orderImage(owner.session, 'seconds=0');
    await untilFinal(owner.session, id);
    const { internalPort } = JSON.parse(worker.readyLine) as { internalPort: number };
    for (const url of [`http://127.0.0.1:${internalPort}`, api.internalUrl]) {
      const text = await (await fetch(`${url}/metrics`)).text();
      for (const [, name = '', type] of text.matchAll(/^# TYPE (\S+) (\w+)$/gm)) {
        shown.add(name);
        if (type === 'histogram') for (const end of ['bucket', 'count', 'sum']) shown.add(`${name}_${end}`);
      }
    }
  });
  after(() => cleanup.run());

  it('name only series that a process shows', () => {
    for (const expr of [
      ...rules.map(({ expr }) => expr),
      ...panels.flatMap(({ targets }) => exprsOf(targets)),
    ]) {
      const named = expr.replaceAll(/"[^"]*"/g, '').match(SERIES) ?? [];
      expect(named, expr).not.to.deep.equal([]);
      for (const name of named) expect(shown.has(name), `${name} in ${expr}`).to.equal(true);
    }
  });

  it('have an entry for each alert in docs/operation.md, and a unit test', () => {
    const entries = [...read('docs/operation.md').matchAll(/^- \*\*(\w+)\*\* \((page|ticket)\)/gm)];
    expect(entries.map(([, name, severity]) => `${name} ${severity}`)).to.have.members(
      rules.map(({ alert, labels }) => `${alert} ${labels.severity}`),
    );
    const tested = [...read(UNIT_TESTS).matchAll(/^\s+alertname: (\w+)$/gm)].map(([, name]) => name);
    expect(tested).to.have.members(rules.map(({ alert }) => alert));
  });

  it('pass promtool, where it is installed', function () {
    if (spawnSync('promtool', ['--version']).status !== 0) this.skip();
    for (const args of [
      ['check', 'rules', RULES],
      ['test', 'rules', UNIT_TESTS],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
      expect(status, `${stdout}${stderr}`).to.equal(0);
    }
  });
});

function exprsOf(targets: readonly { expr: string }[]): string[] {
  return targets.map(({ expr }) => expr);
}

function read(path: string): string {
  return readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
}
