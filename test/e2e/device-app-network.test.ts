import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { skipNote } from '@svc/testing/skip-note.ts';
import { isLive, openBrowser, openPaired, whyNoBrowser } from './device-app/browser.ts';
import { type ScriptedGateway, startScriptedGateway } from './device-app/scripted-gateway.ts';

const why = whyNoBrowser();

/** Run in a page: counts in `reads` what has arrived from the network, comments included. */
const countReads = `
  window.reads = 0;
  const { read } = ReadableStreamDefaultReader.prototype;
  ReadableStreamDefaultReader.prototype.read = async function () {
    const result = await read.call(this);
    window.reads += 1;
    return result;
  };`;

describe.skipIf(why !== null)(`the app of a device on a bad connection${skipNote(why)}`, () => {
  let browser: Browser;
  let gateway: ScriptedGateway;
  let context: BrowserContext;

  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    gateway = await startScriptedGateway();
    context = await browser.newContext();
  });
  afterEach(async () => {
    await context.close();
    gateway.close();
  });

  const streamsAsked = () => gateway.calls.filter(({ path }) => path === '/gw/stream').length;

  test('[19] reopens a stream that is silent for 35 s, but not one that sends only comments', async () => {
    gateway.script.comments = false;
    await context.clock.install();
    await context.addInitScript(countReads);
    const { page } = await openPaired(context, gateway);
    expect(streamsAsked()).toBe(1);
    await page.clock.fastForward(34_000);
    const reads = () => page.evaluate<number>('reads');
    const before = await reads();
    for (const stream of gateway.streams) stream.write(': alive\n\n');
    await expect.poll(reads).toBeGreaterThan(before);
    await page.clock.fastForward(20_000);
    expect(streamsAsked()).toBe(1);
    await page.clock.fastForward(36_000);
    await expect.poll(streamsAsked).toBe(2);
    await isLive(page);
  });

  test('[20] eight tabs share one stream, and the last can still send', async () => {
    const { page } = await openPaired(context, gateway);
    for (let index = 0; index < 7; index += 1) {
      const tab = await context.newPage();
      await tab.goto(gateway.url);
      await isLive(tab);
    }
    expect([gateway.streams.size, gateway.controls.size]).toEqual([1, 1]);
    const last = context.pages().at(-1);
    await last?.getByLabel('Message', { exact: true }).fill('from the eighth');
    await last?.getByRole('button', { name: 'Send message' }).click();
    await expect.poll(() => gateway.calls.find(({ path }) => path === '/gw/turn')?.body['text']).toBe('from the eighth');
    gateway.send('inject', {
      turn_id: 't1',
      origin: 'message',
      channel: 'device',
      sender: 'd_1',
      message_id: 'm1',
      text: 'to all',
      attachments: [],
    });
    await expect.poll(() => page.locator('.bubble').last().textContent()).toBe('to all');
  });

  test('[37] nothing is animated with reduced motion and forced colours', async () => {
    await context.close();
    context = await browser.newContext({ reducedMotion: 'reduce', forcedColors: 'active' });
    const { page, faults } = await openPaired(context, gateway);
    gateway.send('inject', {
      turn_id: 't1',
      origin: 'message',
      channel: 'device',
      sender: 'd_1',
      message_id: null,
      text: 'x',
      attachments: [],
    });
    await page.locator('.dots').waitFor();
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    expect(faults).toEqual([]);
  });

  test('[39] an old tab offers the new version, and stays unchanged until its person loads it', async () => {
    const { page, faults } = await openPaired(context, gateway);
    await expect.poll(() => page.evaluate('navigator.serviceWorker.ready.then(({ active }) => active.state)')).toBe('activated');
    await page.reload(); // the worker has the page from here on
    await isLive(page);
    await page.getByLabel('Message', { exact: true }).fill('half a');
    gateway.script.version = 'newer';
    await page.evaluate('navigator.serviceWorker.ready.then((registration) => registration.update()).then(() => true)');
    const load = page.getByRole('button', { name: 'Load it' });
    await load.waitFor();
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('half a');
    const names = () => page.evaluate('caches.keys()') as Promise<string[]>;
    expect((await names()).length).toBe(2);
    await load.click();
    await expect.poll(names).toEqual(['svc-newer']);
    await isLive(page);
    await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('half a');
    expect(await page.evaluate("fetch('/assets/index-00000000.js').then(({ status }) => status)")).toBe(404);
    expect(faults).toEqual([]);
  });
});
