import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive, signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { isLive, openBrowser, say, whyNoBrowser } from './device-app/browser.ts';
import { openRealGateway, type RealGateway } from './device-app/real-gateway.ts';

const why = whyNoBrowser();

/** All of it is real: the service, its engine that needs no model, the gateway as a connector, the app in Debian's Chromium. */
describe.skipIf(why !== null)(`a device and the service${skipNote(why)}`, () => {
  let gateway: RealGateway;
  let browser: Browser;
  const call = (method: string, params: object) => gateway.call(method, params);

  beforeAll(async () => {
    browser = await openBrowser();
    gateway = await openRealGateway();
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
});
