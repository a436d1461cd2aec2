import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Instance } from '@svc/contract/instance.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sendUntil, startManagerProcess, type ManagerProcess } from './manager-process.ts';
import { giveCompiledKit } from './open-manager.ts';
import { eventually } from './waiting.ts';

const isDeep = process.env['TEST_DEEP'] === '1';
const floodMib = isDeep ? 1024 : 32;
const mib = 1024 * 1024;

/** Writes as fast as it can, with a secret in each line, and then a last line. */
const flooder = `
  export const meta = { type: 'flooder', displayName: 'Flooder', supportsMultiple: false, capabilities: {},
    credentialKeys: ['token_secret'], outbound: false, configSchema: { type: 'object', properties: {
      token_secret: { type: 'string', title: 'Secret' }, mib: { type: 'integer', title: 'How much' } } } };
  export async function start(ctx) {
    const secret = await ctx.secrets.get(ctx.config.token_secret);
    const line = secret + ' ' + 'x'.repeat(1000) + '\\n';
    const block = line.repeat(64) + secret + ' ' + 'y'.repeat(16_384) + '\\n';
    let left = ctx.config.mib * 1024 * 1024;
    const write = () => {
      while (left > 0) {
        left -= block.length;
        if (!process.stdout.write(block)) return void process.stdout.once('drain', write);
      }
      process.stdout.write('the flood is over\\n');
    };
    setTimeout(write, 100);
    return { async stop() {}, health: () => ({ healthy: true }) };
  }`;

let manager: ManagerProcess;
beforeEach(async () => {
  manager = await startManagerProcess({
    prepare(dataDir) {
      giveCompiledKit(dataDir, 'flooder');
      mkdirSync(path.join(dataDir, 'connectors/flooder'), { recursive: true, mode: 0o700 });
      writeFileSync(path.join(dataDir, 'connectors/flooder/index.js'), flooder);
      writeFileSync(path.join(dataDir, 'connectors/flooder/package.json'), '{"type":"module"}');
      writeFileSync(path.join(dataDir, 'secrets.json'), '{"TOKEN_A":"value-of-token-a"}', { mode: 0o600 });
    },
  });
});
afterEach(() => manager.stop());

const create = async (body: object) =>
  (await manager.call<{ instance: Instance }>('POST', '/instances', { enabled: true, ...body })).instance;
test(
  `[M10] a log flood of ${floodMib} MiB is bounded and masked, does not affect siblings and does not grow the manager`,
  { timeout: isDeep ? 300_000 : 120_000 },
  async ({ annotate }) => {
    const sibling = await create({ type: 'postbox', name: 'sibling' });
    let warm = 0;
    const before = await sendUntil(manager, sibling.id, () => warm++ >= 200);
    const flooding = await create({ type: 'flooder', name: 'f', config: { token_secret: 'TOKEN_A', mib: floodMib } });
    const file = path.join(manager.dataDir, `logs/instance-${flooding.id}.log`);
    let isOver = false;
    const sending = sendUntil(manager, sibling.id, () => isOver);
    const tail = () => readFileSync(file, 'utf8').slice(-200);
    await eventually(tail, (text) => text.includes('the flood is over'), isDeep ? 240_000 : 40_000);
    isOver = true;
    const during = await sending;
    await annotate(
      `${floodMib} MiB: ${during.count} sends, p50 ${before.p50.toFixed(1)} -> ${during.p50.toFixed(1)} ms, ` +
        `p99 ${before.p99.toFixed(1)} -> ${during.p99.toFixed(1)} ms, manager ${before.peaks[1]?.toFixed(0)} -> ${during.peaks.map((peak) => peak.toFixed(0)).join(', ')} MiB`,
    );
    expect(during.failures).toEqual([]);
    expect(during.count).toBeGreaterThan(10);
    const [first = 0, second = 0] = during.peaks;
    // What Node itself needs to read that fast; it does not grow with the flood.
    expect(first).toBeLessThan((before.peaks[1] ?? 0) + 110);
    if (isDeep) expect(second).toBeLessThan(first + 16);
    expect(during.p99).toBeLessThan(2_000);

    const { logs } = await manager.call<{ logs: { text: string }[] }>('GET', `/instances/${flooding.id}/logs`);
    expect(logs).toHaveLength(500);
    expect(logs.filter(({ text }) => text.length > 9_000 || text.includes('value-of'))).toEqual([]);
    expect(logs[400]?.text).toContain('[redacted:secret]');
    expect(readFileSync(file, 'utf8')).toMatch(/\d+ lines \(.* MiB\) left out/);
    // How much of a flood passes, and so whether the file is rotated, the gate decides.
    for (const name of [file, `${file}.1`].filter((each) => existsSync(each))) {
      expect(statSync(name).size).toBeLessThan(11 * mib);
      expect(readFileSync(name, 'utf8')).not.toContain('value-of');
    }
    const { instances } = await manager.call<{ instances: Instance[] }>('GET', '/instances');
    expect(instances.map(({ status, restarts, healthy }) => [status, restarts, healthy])).toEqual([
      ['running', 0, true],
      ['running', 0, true],
    ]);
  },
);
