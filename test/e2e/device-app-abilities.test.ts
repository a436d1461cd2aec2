import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { skipNote } from '@svc/testing/skip-note.ts';
import { countRecorded, openBrowser, openPaired, whyNoBrowser } from './device-app/browser.ts';
import { type ScriptedGateway, startScriptedGateway } from './device-app/scripted-gateway.ts';

const why = whyNoBrowser();

/** Chromium's fake microphone, which beeps each second, and its automatic consent to pages that want to use it. */
const media = [
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
];

describe.skipIf(why !== null)(`abilities of the app of a device${skipNote(why)}`, () => {
  let browser: Browser;
  let gateway: ScriptedGateway;
  let context: BrowserContext;
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    browser = await openBrowser(media);
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    gateway = await startScriptedGateway();
    context = await browser.newContext({ geolocation: { latitude: 48.2, longitude: 16.4 }, serviceWorkers: 'block' });
    await context.grantPermissions(['microphone', 'geolocation', 'clipboard-read', 'clipboard-write', 'notifications']);
    await context.addInitScript(countRecorded);
    ({ page, faults } = await openPaired(context, gateway));
  });
  afterEach(async () => {
    expect(faults).toEqual([]);
    await context.close();
    gateway.close();
  });

  const callsTo = (path: string) => gateway.calls.filter((call) => call.path === path);

  test('sends what is spoken as a message, and reads the answer aloud sentence by sentence', async () => {
    gateway.script.heard = 'How late is it?';
    gateway.script.onTurn = (turn_id, { body }) => {
      const said = {
        origin: 'message',
        channel: 'device',
        sender: 'd_1',
        message_id: body['message_id'],
        text: body['text'],
        attachments: [],
      };
      gateway.send('inject', { turn_id, ...said });
      gateway.send('delta', { turn_id, text: 'It is **ten**. You have ' });
      gateway.send('delta', { turn_id, text: 'time.' });
      gateway.send('done', { turn_id, outcome: 'replied', text: 'It is **ten**. You have time.' });
    };
    await page.getByRole('button', { name: 'Speak', exact: true }).click();
    const finish = page.getByRole('button', { name: 'Finish speaking' });
    await finish.waitFor();
    await expect.poll(() => page.evaluate('globalThis.recorded')).toBeGreaterThan(1000);
    await finish.click();
    await expect.poll(() => page.locator('.bubble').textContent()).toBe('How late is it?');
    await expect.poll(() => callsTo('/gw/turn')[0]?.body).toMatchObject({ text: 'How late is it?', speak: true });
    expect(callsTo('/gw/transcribe')[0]?.bytes).toBeGreaterThan(100);
    await expect.poll(() => callsTo('/gw/tts').map(({ body }) => body['text'])).toEqual(['It is ten.', 'You have time.']);
  });

  test('starting to speak stops reading aloud', async () => {
    gateway.script.speechMs = 20_000;
    await expect.poll(() => gateway.controls.size).toBe(1);
    gateway.command('speak', { id: 's1', text: 'A long story. It never ends. Really.' });
    await page.getByRole('button', { name: 'Stop reading aloud' }).waitFor();
    await page.getByRole('button', { name: 'Speak', exact: true }).click();
    await page.getByRole('button', { name: 'Finish speaking' }).waitFor();
    await page.getByRole('button', { name: 'Stop reading aloud' }).waitFor({ state: 'detached' });
  });

  test('describes its abilities, and performs each request once, however many tabs are open', async () => {
    const second = await context.newPage();
    await second.goto(gateway.url);
    await expect.poll(() => gateway.controls.size).toBe(1);
    const described = () =>
      callsTo('/gw/device').at(-1)?.body['capabilities'] as { name: string; dangerous?: boolean }[] | undefined;
    await expect
      .poll(() => described()?.map(({ name }) => name))
      .toEqual(expect.arrayContaining(['geolocation', 'notify', 'open_url']));
    expect(described()?.find(({ name }) => name === 'open_url')).toMatchObject({ dangerous: true, policy: 'full' });
    gateway.command('device_rpc', { rpc_id: 'r1', method: 'geolocation', params: {} });
    await expect
      .poll(() => callsTo('/gw/rpc-result').map(({ body }) => body))
      .toEqual([{ rpc_id: 'r1', ok: true, result: expect.objectContaining({ latitude: 48.2, longitude: 16.4 }) }]);
    await page.bringToFront();
    gateway.command('device_rpc', { rpc_id: 'r2', method: 'clipboard_write', params: { text: 'from the assistant' } });
    await expect.poll(() => callsTo('/gw/rpc-result').length).toBe(2);
    expect(callsTo('/gw/rpc-result')[1]?.body).toMatchObject({ ok: true });
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('from the assistant');
  });

  test('refuses unknown methods, invalid URLs, and abilities that the person turned off', async () => {
    await expect.poll(() => gateway.controls.size).toBe(1);
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel('Share the location of this device').uncheck();
    await expect.poll(() => JSON.stringify(callsTo('/gw/device').at(-1)?.body)).not.toContain('geolocation');
    gateway.command('device_rpc', { rpc_id: 'r1', method: 'geolocation' });
    gateway.command('device_rpc', { rpc_id: 'r2', method: 'open_url', params: { url: 'javascript:alert(1)' } });
    gateway.command('device_rpc', { rpc_id: 'r3', method: 'format_disk' });
    await expect.poll(() => callsTo('/gw/rpc-result').length).toBe(3);
    const results = callsTo('/gw/rpc-result').map(({ body }) => body);
    expect(results.every(({ ok }) => ok === false)).toBe(true);
    expect(results.map(({ error }) => error)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/turned this off/),
        expect.stringMatching(/not an http/),
        expect.stringMatching(/cannot do that/),
      ]),
    );
  });

  test('forgets its conversation after a confirmation', async () => {
    gateway.send('inject', {
      turn_id: 't1',
      origin: 'message',
      channel: 'device',
      sender: 'd_1',
      message_id: null,
      text: 'x',
      attachments: [],
    });
    await page.locator('.bubble').waitFor();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Forget…' }).click();
    expect(callsTo('/gw/forget')).toEqual([]);
    await page.getByRole('button', { name: 'Forget conversation' }).click();
    await expect.poll(() => callsTo('/gw/forget').length).toBe(1);
    gateway.send('forgotten', {});
    await expect.poll(() => page.locator('.bubble').count()).toBe(0);
  });

  test('stores speech settings in the gateway', async () => {
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel('Read answers aloud').check();
    await expect.poll(() => callsTo('/gw/voice-config').at(-1)?.body).toEqual({ read_aloud: true });
  });

  test('puts shared text into the message of its own conversation only, and removes it from the URL', async () => {
    gateway.script.sessions = [
      { conversation_key: 'messenger:m:user:1', title: 'Invoice', surface: 'messenger', state: 'idle', last_active_at: 1 },
    ];
    await page.goto(`${gateway.url}/?share_title=A+page&share_url=https%3A%2F%2Fexample.org%2F`);
    await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('A page\nhttps://example.org/');
    expect(page.url()).toBe(`${gateway.url}/`);
    await page.getByRole('button', { name: /Invoice/ }).click();
    await expect.poll(() => gateway.calls.some(({ path }) => path === '/gw/history')).toBe(true);
    await page.getByRole('heading', { name: 'Invoice' }).waitFor();
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('');
  });

  test('uploads files before the message that refers to them', async () => {
    await page
      .getByLabel('Attach files')
      .setInputFiles([{ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('a note') }]);
    await page.getByRole('button', { name: 'Send message' }).click();
    await expect.poll(() => callsTo('/gw/turn')[0]?.body['attachments']).toEqual(['/uploads/note.txt']);
    expect(callsTo('/gw/upload')[0]?.bytes).toBe(6);
    await expect.poll(() => page.locator('.said .file').textContent()).toMatch(/note\.txt/);
  });
});
