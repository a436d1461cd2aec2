import { parseArgs } from 'node:util';
import { chromium, type BrowserContext, type CDPSession, type Page } from 'playwright-core';
import path from 'node:path';
import type { Invitation } from '@svc/contract/device-gateway.ts';
import type { InstanceCallAnswer } from '@svc/contract/instance-call.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { openHouse, waitFor } from '@svc/testing/house.ts';

/**
 * The app of devices in Debian's Chromium, over the real service: how long it takes to open over a slow network on a slow phone, and what a fast stream
 * costs it. `node bench/device-app.ts [--seconds 60] [--runs 3]`.
 */
const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' }, runs: { type: 'string', default: '3' } } });
const [seconds, runs] = [Number(values.seconds), Number(values.runs)];
/** Slow 3G and better: 1.6 Mbit/s down, 0.75 up, 150 ms; a processor four times slower. */
const slow = { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 0.75e6 / 8 };

const countFrames = `
  globalThis.frames = 0;
  const count = () => { globalThis.frames += 1; requestAnimationFrame(count); };
  requestAnimationFrame(count)`;

const house = await openHouse({
  env: { SVC_OFFLINE_SCRIPT: path.join(import.meta.dirname, 'stamping-engine.ts'), SVC_LOG_LEVEL: 'warn' },
});
const browser = await chromium.launch({
  executablePath: process.env['TEST_CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const [port = 0] = await freePorts(1);
  const instances = `${house.urls.manager}/instances`;
  await house.post(instances, { type: 'device', name: 'devices', config: { http_port: port }, enabled: true });
  await waitFor(
    async () => (await house.get<{ instance: Instance }>(`${instances}/device`)).instance.status === 'running',
    120_000,
    () => 'the gateway does not run',
  );
  const url = `http://localhost:${port}`;

  async function pair(context: BrowserContext): Promise<Page> {
    const asked = { method: 'invite', params: { name: `Bench ${Math.random()}` } };
    const { body } = await house.post<InstanceCallAnswer>(`${instances}/device/call`, asked);
    const { code, identity } = (body as { result: Invitation }).result;
    await house.post(`${house.urls.core}/trust/principals/owner/identifiers`, { surface: 'device', value: identity });
    const page = await context.newPage();
    await page.goto(`${url}/#pair=${code}`);
    await live(page);
    return page;
  }
  const live = (page: Page) => page.locator('.link.live').waitFor({ timeout: 60_000 });

  async function slowed(context: BrowserContext, isCold: boolean): Promise<number> {
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    if (isCold) {
      await cdp.send('Network.enable');
      await cdp.send('Network.setCacheDisabled', { cacheDisabled: true });
      await cdp.send('Network.setBypassServiceWorker', { bypass: true });
    }
    await throttle(cdp);
    const began = performance.now();
    await page.goto(url);
    await live(page);
    const took = performance.now() - began;
    await page.close();
    return took;
  }

  for (const isCold of [true, false]) {
    const times: number[] = [];
    for (let run = 0; run < runs; run++) {
      const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
      const page = await pair(context);
      await page.evaluate('navigator.serviceWorker.ready.then(() => true)');
      await page.close();
      times.push(await slowed(context, isCold));
      await context.close();
    }
    const middle = times.toSorted((a, b) => a - b)[Math.floor(runs / 2)] ?? 0;
    print(
      `${isCold ? 'cold' : 'warm'}, 1.6 Mbit/s, 150 ms, CPU / 4: live after ${(middle / 1000).toFixed(2)} s (middle of ${runs})`,
    );
  }

  for (const rate of [1, 4]) {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const page = await pair(context);
    const cdp = await context.newCDPSession(page);
    await cdp.send('Emulation.setCPUThrottlingRate', { rate });
    const heap = async (): Promise<number> => {
      await cdp.send('HeapProfiler.collectGarbage');
      return ((await page.evaluate('performance.memory.usedJSHeapSize')) as number) / 1e6;
    };
    const before = await heap();
    await page.evaluate(countFrames);
    await page.getByLabel('Message', { exact: true }).fill(`${seconds * 100} 10`);
    await page.getByRole('button', { name: 'Send message' }).click();
    await page.locator('.reply .markdown').waitFor({ timeout: 30_000 });
    await page.evaluate('globalThis.frames = 0; globalThis.from = performance.now()');
    await page.getByRole('button', { name: 'Read aloud' }).waitFor({ timeout: seconds * 3000 + 60_000 });
    const fps = (await page.evaluate('frames / ((performance.now() - from) / 1000)')) as number;
    print(
      `CPU / ${rate}: ${seconds * 100} deltas 10 ms apart at ${fps.toFixed(0)} frames a second; heap ${before.toFixed(1)} to ${(await heap()).toFixed(1)} MB`,
    );
    await context.close();
  }
} finally {
  await browser.close();
  await house.stop();
}

async function throttle(cdp: CDPSession): Promise<void> {
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', slow);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
