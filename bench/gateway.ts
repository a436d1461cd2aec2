import { spawn } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openHouse } from '@svc/testing/house.ts';
import { median, runLoad, type LoadCase, type Measured, type Target } from './load.ts';
import { usageOf } from './process-usage.ts';

/**
 * What the whole service adds to a request, beside a plain proxy hop in the same run: rounds interleave the two, figures
 * are medians over rounds. `node bench/gateway.ts [--rounds 5] [--engine offline]`.
 */
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, engine: { type: 'string', default: 'upstream' } },
});
const here = import.meta.dirname;
const cases: Record<string, LoadCase> = {
  'json c1': { model: 'mock-n64', stream: false, concurrency: 1, count: 300 },
  'json c8': { model: 'mock-n64', stream: false, concurrency: 8, count: 1500 },
  'json c64': { model: 'mock-n64', stream: false, concurrency: 64, count: 2000 },
  'sse c1': { model: 'mock-n64', stream: true, concurrency: 1, count: 300 },
  'sse20 c64': { model: 'mock-n20-gap20', stream: true, concurrency: 64, count: 256 },
};

const start = (file: string, env: Record<string, string>) =>
  spawn(process.execPath, [path.join(here, file)], { stdio: 'inherit', env: { ...process.env, ...env } });
const mock = start('mock-upstream.ts', { PORT: '9100' });
const proxy = start('raw-proxy.ts', { PORT: '9101' });
const house = await openHouse({
  env: {
    SVC_OFFLINE_SCRIPT: path.join(here, values.engine === 'offline' ? 'static-engine.ts' : 'upstream-engine.ts'),
    SVC_MAX_CONCURRENT_TURNS: '128',
    SVC_LOG_LEVEL: 'warn',
  },
});
const ourPids = [house.pidOf('core'), house.pidOf('manager'), house.pidOf('collector'), await house.compatPid()];
const targets: (Target & { pids: number[] })[] = [
  { name: 'raw proxy', url: 'http://127.0.0.1:9101/v1/chat/completions', headers: {}, pids: [proxy.pid ?? 0] },
  {
    name: 'ours',
    url: `${house.urls.compat}/v1/chat/completions`,
    headers: { authorization: `Bearer ${house.key()}` },
    pids: ourPids,
  },
];

try {
  const idle = usageOf(ourPids);
  print(`idle: ${idle.rssMb.toFixed(0)} MB resident (core, manager, collector, compat)`);
  for (const [name, load] of Object.entries(cases)) {
    await measureCase(name, load);
  }
} finally {
  await house.stop();
  proxy.kill();
  mock.kill();
}

async function measureCase(name: string, load: LoadCase): Promise<void> {
  const rounds: Record<string, (Measured & { cpu: number })[]> = {};
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      const before = usageOf(target.pids).cpuMs;
      const measured = await runLoad(target, load);
      (rounds[target.name] ??= []).push({ ...measured, cpu: (usageOf(target.pids).cpuMs - before) / load.count });
    }
  }
  const [raw, ours] = targets.map(({ name: target }) => rounds[target] ?? []);
  const of = (list: (Measured & { cpu: number })[] | undefined, key: keyof Measured | 'cpu') =>
    median((list ?? []).map((one) => one[key]));
  const line = (key: keyof Measured | 'cpu', unit: string) =>
    `${of(ours, key).toFixed(2)} ${unit} (${(of(ours, key) / of(raw, key)).toFixed(2)} x raw)`;
  const first = load.stream ? `, first token ${line('firstToken', 'ms')}` : '';
  print(
    `${name}: p50 ${line('p50', 'ms')}${first}, ${line('perSecond', 'req/s')}, CPU ${line('cpu', 'ms/req')}, errors ${of(ours, 'errors')}`,
  );
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
