import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Instance } from '@svc/contract/instance.ts';
import { openHouse, type House } from '@svc/testing/house.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { median } from './load.ts';

/**
 * What connector processes hold (PSS: shared pages are counted in parts) and how long one takes to start: in a house whose
 * compile cache is empty, then in one that finds it filled. `node bench/connector-memory.ts [--instances 8]`. Linux only.
 */
const { values } = parseArgs({ options: { instances: { type: 'string', default: '8' } } });
const wanted = Number(values.instances);
const cache = temporaryFolder();

try {
  for (const state of ['empty', 'filled']) await measure(state);
} finally {
  cache.remove();
}

async function measure(state: string): Promise<void> {
  const begun = performance.now();
  const house = await openHouse({ env: { NODE_COMPILE_CACHE: cache.path, SVC_LOG_LEVEL: 'warn' } });
  const upMs = performance.now() - begun;
  try {
    const first = pssMb(await house.compatPid());
    const startMs: number[] = [];
    for (let started = 1; started < wanted; started++) startMs.push(await startAnother(house));
    const { instances } = await house.get<{ instances: Instance[] }>(`${house.urls.manager}/instances`);
    const all = instances.map(({ pid }) => pssMb(pid ?? 0));
    const sum = all.reduce((total, mb) => total + mb, 0);
    print(
      `compile cache ${state}: up in ${(upMs / 1000).toFixed(1)} s; alone ${first.toFixed(1)} MB PSS; ${all.length} together ${sum.toFixed(0)} MB, the median ` +
        `${median(all).toFixed(1)}, the largest ${Math.max(...all).toFixed(1)}; a start takes ${median(startMs).toFixed(0)} ms`,
    );
  } finally {
    await house.stop();
  }
}

/** Resolves when it serves. */
async function startAnother(house: House): Promise<number> {
  const begun = performance.now();
  const config = { port: 0, require_key: false };
  const { status, body } = await house.post<unknown>(`${house.urls.manager}/instances`, {
    type: 'compat',
    name: 'another',
    config,
    enabled: true,
  });
  if (status !== 201) throw new Error(`no instance: ${JSON.stringify(body)}`);
  return performance.now() - begun;
}

function pssMb(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]) / 1024;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
