import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, createReadStream, readFileSync, readdirSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { isAlive, signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { startCutProxy } from '@svc/testing/start-cut-proxy.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { isLive, openBrowser, say, whyNoBrowser } from './device-app/browser.ts';
import { openRealGateway, type OpenDevice, type RealGateway } from './device-app/real-gateway.ts';

const why = whyNoBrowser();
const mib = 1024 * 1024;

/** One red pixel. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
);

/** The numbers are those of the study of the dashboard. Everything is real; cases that need a misbehaving server are in `device-app*.test.ts`. */
describe.skipIf(why !== null)(`the app of a device with the real service${skipNote(why)}`, () => {
  let gateway: RealGateway;
  let browser: Browser;
  const opened: OpenDevice[] = [];
  const serve = async (answer: RequestListener): Promise<{ url: string; close(): void }> => {
    const server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
  };

  beforeAll(async () => {
    browser = await openBrowser();
    gateway = await openRealGateway({ SVC_UPLOAD_CHUNK_SIZE: '1mb' });
  });
  afterAll(async () => {
    await browser.close();
    await gateway.house.stop();
  });
  afterEach(async () => {
    for (const { page, faults } of opened.splice(0)) {
      await page.context().close();
      expect(faults).toEqual([]);
    }
  });
  const open = async (name: string, options?: BrowserContextOptions): Promise<OpenDevice> => {
    const device = await gateway.openDevice(browser, name, options);
    opened.push(device);
    return device;
  };
  const lastReply = (page: Page) => page.locator('.reply').last().innerText();

  test('[15] messages sent while offline are delivered once when the network is back', async () => {
    const { page } = await open('On the train');
    await page.context().setOffline(true);
    await say(page, 'count 2');
    await say(page, 'count 3');
    await expect.poll(() => page.locator('.said .status').count()).toBe(2);
    await page.context().setOffline(false);
    await expect.poll(() => lastReply(page)).toMatch(/1\s*2\s*3/);
    await page.reload();
    await isLive(page);
    await expect.poll(() => page.locator('.said .bubble').allTextContents()).toEqual(['count 2', 'count 3']);
    await expect.poll(() => page.locator('.reply').count()).toBe(2);
  });

  test('[16] a connection that breaks during an answer causes no gap and no duplicate', async () => {
    const network = await startCutProxy(Number(new URL(gateway.url).port));
    const { page } = await open('In the lift', { baseURL: `http://localhost:${network.port}` });
    // Setting a browser offline would cut nothing: it keeps the connections that it has.
    const cut = network.cutAfter(3000);
    await say(page, 'count 1500');
    await cut;
    const whole = Array.from({ length: 1500 }, (_, at) => at + 1).join(' ');
    await expect
      .poll(async () => (await page.locator('.reply .markdown').last().innerText()).replaceAll(/\s+/g, ' ').trim())
      .toBe(whole);
    await network.close();
  });

  test('[17] a turn that is running when the core is killed is answered once', async () => {
    const { page } = await open('Phone');
    await say(page, 'wait 3 I am back');
    await expect.poll(() => page.getByText('Thinking').count()).toBe(1);
    const pid = gateway.house.pidOf('core');
    signalProcess(pid, 'SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
    await expect.poll(() => lastReply(page), { timeout: 60_000 }).toContain('I am back');
    await page.reload();
    await isLive(page);
    await expect.poll(() => page.locator('.said').count()).toBe(1);
    expect(await page.locator('.reply').count()).toBe(1);
  });

  test('[28] two tabs of one device show one conversation', async () => {
    const { page } = await open('Laptop');
    const second = await page.context().newPage();
    await second.goto(gateway.url);
    await isLive(second);
    await say(second, 'count 5');
    for (const tab of [page, second]) await expect.poll(() => lastReply(tab)).toMatch(/1\s*2\s*3\s*4\s*5/);
    await page.close();
    await say(second, 'count 6');
    await expect.poll(() => lastReply(second)).toMatch(/5\s*6/);
  });

  test('[30] [32] shows hostile text as text: it runs no script and sends no request', async () => {
    const asked: string[] = [];
    const stranger = await serve((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    const away = stranger.url;
    const { page } = await open('Target');
    const texts = [
      `echo ![picture](${away}/pixel.png)`,
      `echo <img src=${away}/x onerror=alert(1)><script src=${away}/s.js></script>`,
      `echo [go](javascript:alert(1)) <svg/onload=fetch('${away}/svg')>`,
      `echo <iframe src=${away}/frame></iframe> <style>@import '${away}/css'</style> <link rel=stylesheet href=${away}/l>`,
      `echo ![x](data:image/svg+xml,<svg onload=alert(1)>) \`<b>\``,
    ];
    let dialogs = 0;
    page.on('dialog', (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
    for (const [at, text] of texts.entries()) {
      await say(page, text);
      await expect.poll(() => page.locator('.reply .copy, .reply .below').count()).toBeGreaterThan(at);
    }
    expect(await page.locator('.reply img, .reply script, .reply iframe, .reply svg:not(.lucide), .reply style').count()).toBe(0);
    expect(await page.locator('.reply a[href^="javascript"]').count()).toBe(0);
    expect([asked, dialogs]).toEqual([[], 0]);
    stranger.close();
  });

  test('[33] sent HTML and SVG files are downloaded, and never rendered', async () => {
    const { page } = await open('Curious');
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles([
        { name: 'page.html', mimeType: 'text/html', buffer: Buffer.from('<script>alert(1)</script>') },
        { name: 'drawing.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(svg) },
      ]);
    await say(page, 'look');
    await expect.poll(() => page.locator('.reply').count()).toBe(1);
    expect(await page.locator('.said img').count()).toBe(0);
    for (const name of ['page.html', 'drawing.svg']) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: `Save ${name}` }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(name);
    }
    expect(page.context().pages()).toHaveLength(1);
  });

  test('[40] the app does not load in a frame, and pages of other origins cannot send it requests', async () => {
    const { page } = await open('Framed');
    const token = await page.evaluate('JSON.stringify(localStorage)');
    expect(String(token)).not.toBe('');
    const evil = await serve((_request, response) => {
      response.setHeader('content-type', 'text/html').end(`<iframe id=f src="${gateway.url}/"></iframe>`);
    });
    const stranger = await page.context().newPage();
    await stranger.goto(evil.url);
    const frame = stranger.frames().find((each) => each !== stranger.mainFrame());
    expect(
      await frame
        ?.locator('textarea')
        .count()
        .catch(() => 0),
    ).toBe(0);
    const read = await stranger.evaluate(
      `fetch('${gateway.url}/gw/history', { headers: { authorization: 'Bearer x' } }).then((r) => 'read ' + r.status, () => 'refused')`,
    );
    const simple = await stranger.evaluate(
      `fetch('${gateway.url}/gw/turn', { method: 'POST', body: '{"text":"hi","message_id":"x"}' }).then((r) => 'read ' + r.status, () => 'refused')`,
    );
    expect([read, simple]).toEqual(['refused', 'refused']);
    const status = async (headers: Record<string, string>) => (await fetch(`${gateway.url}/gw/history`, { headers })).status;
    expect([await status({ 'remote-user': 'owner' }), await status({ origin: 'https://evil.example' })]).toEqual([401, 403]);
    evil.close();
  });

  const fromMessenger = (text: string) => ({
    channel: 'messenger',
    conversation_key: 'messenger:gone:chat:4711',
    sender: { raw_id: '4711' },
    content: { text },
    channel_context: { target: '4711' },
  });
  test('[27] says where the reply goes, queues after the turn or replaces it, and marks undelivered replies', async () => {
    const { post, urls } = gateway.house;
    await post(`${urls.core}/trust/principals/owner/identifiers`, { surface: 'messenger', value: '4711' });
    const tell = (text: string) => post(`${urls.core}/v2/handle`, fromMessenger(text));
    await tell('hello');
    const { page } = await open('Phone', { viewport: { width: 1280, height: 800 } });
    await page.getByRole('button', { name: /Telegram/ }).click();
    await isLive(page);
    await expect.poll(() => page.locator('.place').textContent()).toMatch(/The reply goes to Telegram\.$/);

    const first = tell('wait 20 first');
    await expect.poll(() => page.getByText('Thinking').count()).toBe(1);
    await page.getByLabel('Message', { exact: true }).fill('count 3');
    await page.getByRole('button', { name: 'Send after this turn' }).click();
    await expect.poll(() => page.getByText(/^Waiting/).count()).toBe(1);
    await page.getByLabel('Message', { exact: true }).fill('count 2');
    await page.getByRole('button', { name: 'Stop and say' }).click();
    await expect.poll(() => page.getByText('Stopped.').count()).toBe(1);
    await first;
    await expect
      .poll(() => page.locator('.reply .markdown').allTextContents())
      .toEqual(expect.arrayContaining([expect.stringMatching(/1\s*2\s*3/)]));
    await expect.poll(() => page.getByText(/Not delivered: /).count()).toBe(2);
    expect(await page.locator('.said .bubble').allTextContents()).toEqual(
      expect.arrayContaining(['hello', 'wait 20 first', 'count 3', 'count 2']),
    );
    expect(await page.locator('.said').count()).toBe(4);
    await page.reload();
  });

  test('a message to another device of the person is shown and answered on both', async () => {
    const tablet = await open('Tablet');
    await say(tablet.page, 'count 1');
    await expect.poll(() => tablet.page.locator('.reply').count()).toBe(1);
    const phone = await open('Other phone', { viewport: { width: 1280, height: 800 } });
    await phone.page
      .getByRole('button', { name: /a device/ })
      .first()
      .click();
    await isLive(phone.page);
    await say(phone.page, 'count 4');
    await expect.poll(() => tablet.page.locator('.reply').last().textContent()).toMatch(/1\s*2\s*3\s*4/);
    await expect.poll(() => phone.page.locator('.reply').last().textContent()).toMatch(/1\s*2\s*3\s*4/);
    expect(await phone.page.getByText(/Not delivered/).count()).toBe(0);
  });

  test('a message is answered, is there after a reload, and goes on after the gateway was killed', async () => {
    const { page } = await open('Phone');
    await say(page, 'count 3');
    await expect.poll(() => lastReply(page)).toMatch(/1\s*2\s*3/);
    await page.reload();
    await isLive(page);
    await expect.poll(() => lastReply(page)).toMatch(/1\s*2\s*3/);
    await say(page, 'wait 4 still here');
    await expect.poll(() => page.getByText('Thinking').count()).toBeGreaterThan(0);
    const { pid } = await gateway.instance();
    signalProcess(pid!, 'SIGKILL');
    await expect.poll(() => isAlive(pid!)).toBe(false);
    await expect.poll(() => lastReply(page)).toContain('still here');
  });

  test('its engine acts on it: what the owner allows, and what is dangerous with a yes alone', async () => {
    const { page, deviceId } = await open('Reader', {
      permissions: ['geolocation'],
      geolocation: { latitude: 52.52, longitude: 13.4 },
    });
    const use = async (tool: string, params = '{}') => say(page, `tool svc-device.${tool} ${params}`);
    await expect.poll(async () => JSON.stringify(await gateway.call('devices', {}))).toContain('"online":true');
    await use('geolocation');
    await expect.poll(() => lastReply(page)).not.toContain('52.52');
    await gateway.call('allow', { device_id: deviceId, capability: 'geolocation' });
    await use('geolocation');
    await expect.poll(() => lastReply(page)).toContain('52.52');
    await gateway.call('allow', { device_id: deviceId, capability: 'open_url' });
    await use('open_url', '{"url":"https://example.org/"}');
    await page.getByRole('button', { name: 'No' }).click();
    await expect.poll(() => lastReply(page)).toContain('The person refused open_url');
  });

  test('is signed out in the middle of a turn, and nothing of it gets in again', async () => {
    const { page, deviceId } = await open('Lost phone');
    await say(page, 'wait 30 never');
    await expect.poll(() => page.getByText('Thinking').count()).toBeGreaterThan(0);
    await gateway.call('revoke', { device_id: deviceId });
    await expect.poll(() => page.locator('.link').textContent()).toBe('Signed out');
    await page.reload();
    await expect.poll(() => page.locator('body').textContent()).toMatch(/signed out|Pair/i);
  });

  test('a picture that was sent comes back with the reply, is shown, stays over a reload and can be saved', async () => {
    const { page } = await open('Phone');
    const file = { name: 'red.png', mimeType: 'image/png', buffer: picture };
    await page.locator('input[type=file]').first().setInputFiles(file);
    await say(page, 'keep this');
    await expect.poll(() => page.locator('.reply').count()).toBe(1);
    await expect
      .poll(() => page.locator('.said img.picture').evaluate((img) => (img as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(1);

    await say(
      page,
      `tool svc-toolbelt.svc_reply_file ${JSON.stringify({ path: findFile(path.join(gateway.house.folder, 'attachments'), 'red.png'), name: 'back.png' })}`,
    );
    const shown = page.locator('.reply').last();
    await expect.poll(() => shown.getByRole('img', { name: 'back.png' }).count()).toBe(1);
    await page.reload();
    await isLive(page);
    await expect.poll(() => shown.getByRole('img', { name: 'back.png' }).count()).toBe(1);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      shown.getByRole('button', { name: 'Save back.png' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('back.png');
    expect(readFileSync(await download.path())).toEqual(picture);
  });

  test(
    'a large file goes in chunks, and on where the network broke off, even after the app was closed',
    { timeout: 300_000 },
    async () => {
      const { page } = await open('Camera');
      const puts: number[] = [];
      let isCut = true;
      await page.context().route(/\/gw\/uploads\/.*index=/, async (route) => {
        const index = Number(new URL(route.request().url()).searchParams.get('index'));
        if (isCut && index === 1) return await route.abort('connectionreset');
        puts.push(index);
        await route.continue();
      });
      const folder = temporaryFolder();
      onTestFinished(folder.remove);
      const film = path.join(folder.path, 'film.mp4');
      const size = Number(process.env['DEVICE_FILE_MB'] ?? 6) * 1024 * 1024;
      for (let written = 0; written < size; written += mib) appendFileSync(film, randomBytes(mib));
      await page.locator('input[type=file]').first().setInputFiles(film);
      await say(page, 'what is this');
      await expect.poll(() => page.getByText('Waiting for the connection').count()).toBe(1);
      await page.reload();
      isCut = false;
      // The sign of thinking counts as a reply, too.
      await expect.poll(() => lastReply(page), { timeout: 120_000 }).toContain('you wrote 12 characters');
      expect(puts).toEqual(puts.map((_, index) => index));
      const stored = findFile(path.join(gateway.house.folder, 'attachments'), 'film.mp4');
      expect(await digestOf(stored)).toBe(await digestOf(film));
    },
  );
});

function findFile(folder: string, end: string): string {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith(end));
  if (found === undefined) throw new Error(`${end} is not below ${folder}`);
  return path.join(folder, found);
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(file)) hash.update(part as Buffer);
  return hash.digest('hex');
}
