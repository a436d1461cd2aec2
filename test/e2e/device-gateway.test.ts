import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync, createReadStream, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { isAlive, signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { isLive, openBrowser, say, whyNoBrowser } from './device-app/browser.ts';
import { openRealGateway, type RealGateway } from './device-app/real-gateway.ts';

const why = whyNoBrowser();
const mib = 1024 * 1024;

/** One red pixel. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
);

/** All of it is real: the service, its engine that needs no model, the gateway as a connector, the app in Debian's Chromium. */
describe.skipIf(why !== null)(`a device and the service${skipNote(why)}`, () => {
  let gateway: RealGateway;
  let browser: Browser;
  const call = (method: string, params: object) => gateway.call(method, params);

  beforeAll(async () => {
    browser = await openBrowser();
    gateway = await openRealGateway({ SVC_UPLOAD_CHUNK_SIZE: '1mb' });
  });
  afterAll(async () => {
    await browser.close();
    await gateway.house.stop();
  });

  const openDevice = (name: string, permissions: string[] = []) =>
    gateway.openDevice(browser, name, { permissions, geolocation: { latitude: 52.52, longitude: 13.4 } });
  const lastReply = (page: Page) => page.locator('.reply').last().textContent();

  test('a message is answered, is there after a reload, and goes on after the gateway was killed', async () => {
    const { page, faults } = await openDevice('Phone');
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
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('its engine acts on it: what the owner allows, and what is dangerous with a yes alone', async () => {
    const { page, deviceId, faults } = await openDevice('Tablet', ['geolocation']);
    const use = async (tool: string, params = '{}') => say(page, `tool svc-device.${tool} ${params}`);
    await expect.poll(async () => JSON.stringify(await call('devices', {}))).toContain('"online":true');
    await use('geolocation');
    await expect.poll(() => lastReply(page)).not.toContain('52.52');
    await call('allow', { device_id: deviceId, capability: 'geolocation' });
    await use('geolocation');
    await expect.poll(() => lastReply(page)).toContain('52.52');
    await call('allow', { device_id: deviceId, capability: 'open_url' });
    await use('open_url', '{"url":"https://example.org/"}');
    await page.getByRole('button', { name: 'No' }).click();
    await expect.poll(() => lastReply(page)).toContain('The person refused open_url');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('is signed out in the middle of a turn, and nothing of it gets in again', async () => {
    const { page, deviceId } = await openDevice('Lost phone');
    await say(page, 'wait 30 never');
    await expect.poll(() => page.getByText('Thinking').count()).toBeGreaterThan(0);
    await call('revoke', { device_id: deviceId });
    await expect.poll(() => page.locator('.link').textContent()).toBe('Signed out');
    await page.reload();
    await expect.poll(() => page.locator('body').textContent()).toMatch(/signed out|Pair/i);
    await page.context().close();
  });

  test('a picture that was sent comes back with the reply, is shown, stays over a reload and can be saved', async () => {
    const { page, faults } = await openDevice('Phone');
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
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test(
    'a large file goes in chunks, and on where the network broke off, even after the app was closed',
    { timeout: 300_000 },
    async () => {
      const { page, faults } = await openDevice('Camera');
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
      await expect.poll(() => page.locator('.reply').count(), { timeout: 120_000 }).toBe(1);
      expect(puts).toEqual(puts.map((_, index) => index));
      const stored = findFile(path.join(gateway.house.folder, 'attachments'), 'film.mp4');
      expect(await digestOf(stored)).toBe(await digestOf(film));
      expect(faults).toEqual([]);
      await page.context().close();
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
