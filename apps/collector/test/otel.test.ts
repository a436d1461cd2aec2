import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { noMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { createLog } from '@svc/service-kit/log.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { OtelView } from '@svc/contract/insights.ts';
import { openOtlpReceiver, type OtlpReceiver } from '@svc/testing/otlp-receiver.ts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createOtelExport } from '../src/otel/otel-export.ts';
import { maxQueue } from '../src/otel/open-otlp.ts';
import { traceIdOf } from '../src/otel/to-spans.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';
import { freePort } from '@svc/testing/free-ports.ts';
import { killHard } from '@svc/testing/kill-hard.ts';
import { startCollectorProcess } from './processes.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';

let receiver: OtlpReceiver;
let collector: TestCollector;
beforeEach(async () => {
  receiver = await openOtlpReceiver();
  collector = openTestCollector({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, SVC_ASSISTANT_NAME: 'rosa' });
  await expect.poll(() => collector.context.otel.view().state).toBe('on');
});
afterEach(async () => {
  receiver.state.status = 200;
  await collector.close();
  await receiver.close();
});

const secret = 'what nobody but the two may read';
const start = 1_800_000_000_000;
/** What the core reports of a turn that waited, called two tools, and was answered over a channel. */
const turnEvents = (turn_id: string, request_id: string) => {
  const base = { surface: 'messenger', session: 'messenger:m:user:7', instance_id: 'm', identity: '4711', request_id };
  return [
    { ...base, kind: 'inbound', ts: start, text: secret, principal: 'ann', payload: { turn_id, tier: 'TRUSTED' } },
    { ...base, kind: 'queued', ts: start + 10, payload: { turn_id, position: 2 } },
    { ...base, kind: 'turn', ts: start + 1500, payload: { turn_id, what: 'started', at: start + 500 } },
    { ...base, kind: 'thinking', ts: start + 1600, text: secret, payload: { turn_id } },
    {
      ...base,
      kind: 'tool',
      ts: start + 2000,
      text: 'Bash',
      payload: { turn_id, id: 't1', input: { command: secret }, cwd: '/x' },
    },
    { ...base, kind: 'tool_result', ts: start + 2600, text: secret, payload: { turn_id, id: 't1', ok: false } },
    { ...base, kind: 'tool', ts: start + 2700, text: 'Read', payload: { turn_id, id: 't2', input: {} } },
    { ...base, kind: 'tool_result', ts: start + 2800, text: secret, payload: { turn_id, id: 't2', ok: true } },
    {
      ...base,
      kind: 'token-usage',
      ts: start + 3000,
      cost_usd: 0.25,
      billed_cost_usd: 0,
      payload: { turn_id, engine_id: 'claude', model: 'm-1', input_tokens: 10, cache_read_tokens: 90, output_tokens: 7 },
    },
    { ...base, kind: 'outbound', ts: start + 3000, text: secret, payload: { turn_id, ms: 2500, engine_id: 'claude' } },
    { ...base, kind: 'turn', ts: start + 3010, payload: { turn_id, what: 'ended', outcome: 'replied', ms: 2510 } },
    {
      kind: 'delivery',
      session: base.session,
      instance_id: 'm',
      ts: start + 3020,
      payload: { turn_id, delivery_id: 'd', what: 'pending', attempts: 0 },
    },
    {
      kind: 'delivery',
      session: base.session,
      instance_id: 'm',
      ts: start + 4020,
      payload: { turn_id, delivery_id: 'd', what: 'delivered', attempts: 2 },
    },
  ].map((event, i) => ({ ...event, id: `${turn_id}-${i}` }));
};
const byName = () => new Map(receiver.spans.map((span) => [span.name, span]));

test('a turn is one trace, with an id derived from its request id and a span for each step', async () => {
  await collector.ingest(turnEvents('turn_1', 'req_1'));
  await collector.context.otel.flush();
  const spans = byName();
  expect([...spans.keys()].toSorted()).toEqual(
    ['chat m-1', 'deliver', 'execute_tool Bash', 'execute_tool Read', 'invoke_agent rosa', 'queued', 'reply'].toSorted(),
  );
  expect(new Set(receiver.spans.map(({ traceId }) => traceId))).toEqual(new Set([traceIdOf('req_1')]));
  const root = spans.get('invoke_agent rosa');
  expect(root).toMatchObject({ startAt: start, endAt: start + 3010, status: 0 });
  expect(root?.parentSpanId ?? '').toBe('');
  expect(root?.attributes).toEqual({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'rosa',
    'gen_ai.conversation.id': 'messenger:m:user:7',
    'gen_ai.provider.name': 'claude',
    'gen_ai.request.model': 'm-1',
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.output_tokens': 7,
    'user.id': 'ann',
    'svc.turn_id': 'turn_1',
    'svc.request_id': 'req_1',
    'svc.surface': 'messenger',
    'svc.instance_id': 'm',
    'svc.outcome': 'replied',
    'svc.injected': false,
    'svc.cost_usd': 0.25,
    'svc.billed_cost_usd': 0,
  });
  expect(spans.get('queued')).toMatchObject({ parentSpanId: root?.spanId, startAt: start + 10, endAt: start + 500 });
  const run = spans.get('chat m-1');
  expect(run).toMatchObject({ parentSpanId: root?.spanId, startAt: start + 500, endAt: start + 3000 });
  expect(spans.get('execute_tool Bash')).toMatchObject({
    parentSpanId: run?.spanId,
    startAt: start + 2000,
    endAt: start + 2600,
    status: 2,
    attributes: { 'gen_ai.tool.name': 'Bash', 'gen_ai.tool.call.id': 't1', 'error.type': 'tool_error' },
  });
  expect(spans.get('execute_tool Read')).toMatchObject({ parentSpanId: run?.spanId, endAt: start + 2800, status: 0 });
  expect(spans.get('reply')).toMatchObject({ parentSpanId: root?.spanId, startAt: start + 3000, endAt: start + 3010 });
  expect(spans.get('deliver')).toMatchObject({
    parentSpanId: root?.spanId,
    startAt: start + 3020,
    endAt: start + 4020,
    attributes: { 'svc.attempts': 2 },
  });
  expect(receiver.resources[0]).toMatchObject({ 'service.name': 'assistant-gateway' });
});

test('exports neither texts nor raw senders', async () => {
  await collector.ingest(turnEvents('turn_1', 'req_1'));
  await collector.context.otel.flush();
  expect(receiver.bodies.length).toBeGreaterThan(1);
  for (const body of receiver.bodies) {
    expect(body).not.toContain(secret);
    expect(body).not.toContain('4711');
  }
});

test('exports a short turn that reports only its reply after a quiet period', async () => {
  const [inbound, , , , , , , , usage, outbound] = turnEvents('turn_2', '0af7651916cd43dd8448eb211c80319c');
  await collector.ingest([inbound, usage, outbound]);
  collector.clock.advance(3000);
  await collector.context.otel.flush();
  const spans = byName();
  expect([...spans.keys()].toSorted()).toEqual(['chat m-1', 'invoke_agent rosa', 'reply']);
  // A trace id of W3C is taken as it is.
  expect(spans.get('reply')?.traceId).toBe('0af7651916cd43dd8448eb211c80319c');
  expect(spans.get('chat m-1')).toMatchObject({ startAt: start + 500, endAt: start + 3000 });
});

test('exports a failed turn as an error with its code, and a denied sender without an error', async () => {
  const [inbound] = turnEvents('turn_3', 'r3');
  await collector.ingest([
    inbound,
    {
      kind: 'turn',
      ts: start + 50,
      payload: { turn_id: 'turn_3', what: 'ended', outcome: 'failed', ms: 50, error: 'engine_down' },
    },
    { kind: 'denied', ts: start, request_id: 'r4', payload: { turn_id: 'turn_4', reason: 'unknown' } },
  ]);
  await collector.context.otel.flush();
  const outcomes = receiver.spans.filter(({ name }) => name.startsWith('invoke_agent'));
  expect(outcomes.map(({ attributes, status }) => [attributes['svc.outcome'], status, attributes['error.type']])).toEqual(
    expect.arrayContaining([
      ['failed', 2, 'engine_down'],
      ['denied', 0, undefined],
    ]),
  );
});

test('observed messages, chat commands and events without a turn make no trace; a turn that never ends makes one', async () => {
  const [inbound] = turnEvents('turn_5', 'r5');
  await collector.ingest([
    { ...inbound, id: 'noted', payload: { turn_id: 'turn_6', observed: true } },
    { ...inbound, id: 'command', payload: { turn_id: 'turn_8', command: true } },
    { kind: 'service', ts: start, payload: { service: 'core', what: 'started' } },
    { kind: 'tool', ts: start, text: 'Bash', payload: { turn_id: 'turn_7', id: 't' } },
    inbound,
  ]);
  collector.clock.advance(3 * 3_600_000 - 2000);
  await collector.ingest([]);
  expect(collector.context.otel.view().waiting).toBe(0);
  collector.clock.advance(4000);
  expect(collector.context.otel.view().waiting).toBe(2);
  await collector.context.otel.flush();
  expect(receiver.spans.map(({ attributes }) => attributes['svc.turn_id']).filter(Boolean)).toEqual(['turn_5']);
  expect(byName().get('invoke_agent rosa')?.attributes['svc.outcome']).toBe('unknown');
});

test('a repeated event makes no second trace', async () => {
  await collector.ingest(turnEvents('turn_1', 'req_1'));
  await collector.context.otel.flush();
  const count = receiver.spans.length;
  await collector.ingest(turnEvents('turn_1', 'req_1'));
  await collector.context.otel.flush();
  expect(receiver.spans).toHaveLength(count);
});

test('exports the metrics of /metrics', async () => {
  await collector.ingest([{ kind: 'token-usage', surface: 'compat', cost_usd: 2, payload: { input_tokens: 5 } }, { kind: '' }]);
  await collector.context.otel.flush();
  const value = (name: string, label?: string) =>
    receiver.metrics.find(
      (metric) => metric.name === name && (label === undefined || Object.values(metric.attributes).includes(label)),
    );
  expect(value('svc_events_ingested_total')).toMatchObject({ kind: 'sum', value: 1 });
  expect(value('svc_events_rejected_total')).toMatchObject({ kind: 'sum', value: 1 });
  expect(value('svc_tokens_day', 'input')).toMatchObject({ kind: 'gauge', value: 5, attributes: { surface: 'compat' } });
  expect(value('svc_cost_usd_day', 'equivalent')).toMatchObject({ value: 2 });
  const text = (await collector.app.inject('/metrics')).body;
  const names = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  for (const { name } of receiver.metrics) expect(names).toContain(name);
});

test('a clock that jumps back does not keep a turn from being exported', async () => {
  await collector.ingest(turnEvents('turn_1', 'req_1'));
  collector.clock.setBack(3_600_000);
  collector.clock.advance(60_000);
  expect(collector.context.otel.view().waiting).toBe(7);
});

test('a receiver that refuses loses no event, is reported by /health, and recovers', async () => {
  receiver.state.status = 400;
  expect(await collector.ingest(turnEvents('turn_1', 'req_1'))).toMatchObject({ status: 200, ingested: 13 });
  await collector.context.otel.flush();
  expect(await collector.read('/health')).toMatchObject({
    status: 'degraded',
    degraded: [expect.stringMatching(/OpenTelemetry traces cannot be sent/)],
    otel: { state: 'on', failed: 7 },
  });
  receiver.state.status = 200;
  await collector.ingest(turnEvents('turn_2', 'req_2'));
  await collector.context.otel.flush();
  expect(await collector.read('/health')).toMatchObject({ status: 'ok', otel: { exported: 7, failed: 7 } });
});

test('bounds the queue for a receiver that does not answer, and counts what it drops', async () => {
  receiver.state.isSilent = true;
  const turns = Array.from({ length: 1500 }, (_, i) => turnEvents(`turn_${i}`, `req_${i}`));
  for (let i = 0; i < turns.length; i += 100) await collector.ingest(turns.slice(i, i + 100).flat());
  collector.clock.advance(3000);
  const { waiting, dropped } = collector.context.otel.view();
  expect(waiting).toBeLessThanOrEqual(maxQueue);
  expect(dropped).toBeGreaterThan(1000);
  expect(await collector.read('/api/events?limit=1')).toMatchObject({ events: [expect.anything()] });
  receiver.wake();
});

test('without the standard variable nothing is loaded or reported', async () => {
  const other = openTestCollector();
  try {
    expect(other.context.otel.view().state).toBe('off');
    expect(await other.read('/health')).not.toHaveProperty('otel');
    expect((await other.app.inject({ method: 'POST', url: '/api/otel/install' })).statusCode).toBe(409);
  } finally {
    await other.close();
  }
});

const silent = (): Log => createLog('collector', 'silent');
const exportWith = (options: Partial<Parameters<typeof createOtelExport>[0]>) => {
  const otel = createOtelExport({ ...collector.context, version: '1.2.3', log: silent(), mask: noMask, ...options });
  otel.start();
  return otel;
};

test('a starting collector reports that it is ready before it loads the libraries', async () => {
  const folder = temporaryFolder();
  const port = await freePort();
  const told = (text: string) => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(text)}` });
  // Notes what comes first: the word to the parent, or the first library.
  const spy = `import { registerHooks } from 'node:module'; import { appendFileSync } from 'node:fs';
    const note = (what) => appendFileSync(${JSON.stringify(path.join(folder.path, 'order'))}, what + ' ');
    const send = process.send; process.send = (...args) => { note('ready'); return send.apply(process, args); };
    registerHooks({ resolve(name, context, next) { if (name === '@opentelemetry/sdk-trace') note('load'); return next(name, context); } });`;
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...told(spy) };
  const child = await startCollectorProcess(path.join(folder.path, 'data'), port, env);
  try {
    const state = async () => ((await (await fetch(`http://127.0.0.1:${port}/api/otel`)).json()) as OtelView).state;
    await expect.poll(state).toBe('on');
    expect(readFileSync(path.join(folder.path, 'order'), 'utf8')).toMatch(/^ready load /);
  } finally {
    await killHard(child);
    folder.remove();
  }
});

test('the collector installs missing libraries itself, and /health names the command when that fails', async () => {
  let tries = 0;
  const otel = exportWith({
    load: () => null,
    install: () => {
      tries++;
      return Promise.reject(new Error('npm did not finish: no network'));
    },
  });
  await expect.poll(() => otel.view().state).toBe('missing');
  expect(otel.fault()).toBe(
    'OpenTelemetry is not exported because its libraries are missing. Run: ./svc otel install (npm did not finish: no network)',
  );
  await expect(otel.install()).rejects.toThrow('no network');
  // What is stored meanwhile is not held up.
  otel.stored([]);
  collector.clock.advance(11 * 60_000);
  expect(tries).toBe(3);
  await otel.close();
});

test('uses libraries as soon as they are installed', async () => {
  const { loadOtelPackages } = await import('../src/otel/otel-packages.ts');
  let isInstalled = false;
  const otel = exportWith({
    load: (folders) => (isInstalled ? loadOtelPackages(folders) : null),
    install: (folder) => {
      expect(folder).toBe(path.join(collector.dataDir, 'otel'));
      isInstalled = true;
      return Promise.resolve();
    },
  });
  await expect.poll(() => otel.view().state).toBe('on');
  await otel.close();
  expect(readdirSync(collector.dataDir).filter((name) => name.startsWith('.otel'))).toEqual([]);
});

test('exports unfinished turns as far as they are known before the collector ends', async () => {
  await collector.ingest(turnEvents('turn_1', 'req_1').slice(0, 6));
  await collector.context.otel.close();
  const root = byName().get('invoke_agent rosa');
  expect(root?.attributes).toMatchObject({ 'svc.turn_id': 'turn_1', 'svc.outcome': 'unknown' });
  expect([...byName().keys()]).toEqual(expect.arrayContaining(['queued', 'chat', 'execute_tool Bash']));
});

test('the rest of a turn that an earlier collector began to export makes no second trace', async () => {
  await collector.ingest(turnEvents('turn_1', 'req_1').slice(6));
  collector.clock.advance(3000);
  await collector.context.otel.flush();
  expect(receiver.spans.filter(({ parentSpanId }) => parentSpanId === undefined || parentSpanId === '')).toEqual([]);
});

test('a receiver that does not answer delays the stop by three seconds at most', async () => {
  receiver.state.isSilent = true;
  await collector.ingest(turnEvents('turn_1', 'req_1'));
  const ended = vi.fn();
  const closing = collector.context.otel.close().then(ended);
  collector.clock.advance(2999);
  await new Promise(setImmediate);
  expect(ended).not.toHaveBeenCalled();
  collector.clock.advance(1);
  // Sooner than the library itself gives up.
  await expect.poll(() => ended).toHaveBeenCalled();
  receiver.wake();
  await closing;
});

test('npm ends with the collector, and no partial installation is left', async () => {
  const bin = path.join(collector.dataDir, 'bin');
  const note = path.join(collector.dataDir, 'npm-pid');
  mkdirSync(bin);
  // Deaf to a polite word, as npm is while it waits for a registry.
  writeFileSync(path.join(bin, 'npm'), `#!/bin/sh\ntrap '' TERM\necho $$ > '${note}'\nexec sleep 1000\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`);
  const otel = exportWith({ load: () => null });
  await expect.poll(() => existsSync(note) && readFileSync(note, 'utf8')).toMatch(/^\d+\n$/);
  vi.unstubAllEnvs();
  const pid = Number(readFileSync(note, 'utf8'));
  expect(otel.view().state).toBe('installing');
  await otel.close();
  expect(() => signalProcess(pid, 0)).toThrow('ESRCH');
  expect(readdirSync(collector.dataDir).filter((name) => name.includes('otel'))).toEqual([]);
});

test('GET /api/otel takes the read token, installing takes the control token', async () => {
  const guarded = openTestCollector({ SVC_INSIGHTS_TOKEN: 'r', SVC_INSIGHTS_CONTROL_TOKEN: 'c' });
  try {
    const ask = (method: 'GET' | 'POST', url: string, token: string) =>
      guarded.app.inject({ method, url, headers: { authorization: `Bearer ${token}` } });
    expect((await ask('GET', '/api/otel', 'r')).json<OtelView>().state).toBe('off');
    expect((await ask('GET', '/api/otel', 'c')).statusCode).toBe(401);
    expect((await ask('POST', '/api/otel/install', 'r')).statusCode).toBe(401);
    expect((await ask('POST', '/api/otel/install', 'c')).statusCode).toBe(409);
  } finally {
    await guarded.close();
  }
});
