import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Invitation } from '@svc/contract/device-gateway.ts';
import type { InstanceCallAnswer } from '@svc/contract/instance-call.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { openHouse, waitFor, type House } from '@svc/testing/house.ts';
import { isLive, openBrowser, say, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();

/** One red pixel. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
);

describe.skipIf(why !== null)(`files of a device’s conversation${why === null ? '' : ` (skipped: ${why})`}`, () => {
  let house: House;
  let browser: Browser;
  let url: string;

  beforeAll(async () => {
    browser = await openBrowser();
    house = await openHouse();
    const [port = 0] = await freePorts(1);
    await house.post(`${house.urls.manager}/instances`, {
      type: 'device',
      name: 'devices',
      config: { http_port: port },
      enabled: true,
    });
    await waitFor(
      async () =>
        (await house.get<{ instance: Instance }>(`${house.urls.manager}/instances/device`)).instance.status === 'running',
      60_000,
      () => 'the gateway does not run',
    );
    url = `http://localhost:${port}`;
  });
  afterAll(async () => {
    await browser.close();
    await house.stop();
  });

  /** A device of the owner, its app open. */
  async function openDevice(name: string): Promise<{ page: Page; faults: string[] }> {
    const asked = { method: 'invite', params: { name } };
    const { body } = await house.post<InstanceCallAnswer>(`${house.urls.manager}/instances/device/call`, asked);
    const { code, identity } = (body as { result: Invitation }).result;
    await house.post(`${house.urls.core}/trust/principals/owner/identifiers`, { surface: 'device', value: identity });
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const page = await context.newPage();
    const faults = watch(page);
    await page.goto(`${url}/#pair=${code}`);
    await isLive(page);
    return { page, faults };
  }

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
      `tool svc-toolbelt.svc_reply_file ${JSON.stringify({ path: findFile(path.join(house.folder, 'attachments'), 'red.png'), name: 'back.png' })}`,
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

  test('a large file goes in chunks, and on where the network broke off, even after the app was closed', async () => {
    const { page, faults } = await openDevice('Camera');
    const puts: number[] = [];
    let isCut = true;
    await page.context().route(/\/gw\/uploads\/.*index=/, async (route) => {
      const index = Number(new URL(route.request().url()).searchParams.get('index'));
      if (isCut && index === 1) return await route.abort('connectionreset');
      puts.push(index);
      await route.continue();
    });
    const film = randomBytes(20 * 1024 * 1024);
    await page.locator('input[type=file]').first().setInputFiles({ name: 'film.mp4', mimeType: 'video/mp4', buffer: film });
    await say(page, 'what is this');
    await expect.poll(() => page.getByText('Waiting for the connection').count()).toBe(1);
    await page.reload();
    isCut = false;
    await expect.poll(() => page.locator('.reply').count(), { timeout: 60_000 }).toBe(1);
    expect(puts).toEqual(puts.map((_, index) => index));
    const stored = findFile(path.join(house.folder, 'attachments'), 'film.mp4');
    expect(createHash('sha256').update(readFileSync(stored)).digest('hex')).toBe(createHash('sha256').update(film).digest('hex'));
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

function findFile(folder: string, end: string): string {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith(end));
  if (found === undefined) throw new Error(`${end} is not below ${folder}`);
  return path.join(folder, found);
}
