import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Invitation, ListedDevice, Paired } from '@svc/contract/device-gateway.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { ChannelInfo, HeldAnnouncement } from '@svc/contract/send.ts';
import type { Principal } from '@svc/contract/trust.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { root } from '../repository.ts';
import { type Dashboard, openDashboard, signUp } from './dashboard/open-dashboard.ts';
import { violationsInAllLooks } from './dashboard/violations.ts';
import { openBrowser, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();

/** Whether the text of the open dialog that begins with these words is laid out from left to right, line by line. */
const isInOrder = (page: Page, words: string): Promise<unknown> =>
  page.evaluate(`(() => {
    const texts = document.createTreeWalker(document.querySelector('dialog'), NodeFilter.SHOW_TEXT);
    const words = ${JSON.stringify(words)};
    while (!texts.currentNode.data?.startsWith(words)) if (!texts.nextNode()) return 'no such text';
    const range = document.createRange();
    const placeOf = (at) => (range.setStart(texts.currentNode, at), range.setEnd(texts.currentNode, at + 1), range.getBoundingClientRect());
    const places = [...words].map((_, at) => placeOf(at));
    return places.slice(1).every(({ top, left }, at) => top > places[at].top || left > places[at].left);
  })()`);

/** Changes to channels on their screen, and their effect in the manager and the core. */
describe.skipIf(why !== null)(`channels in the dashboard${skipNote(why)}`, () => {
  let folder: TemporaryFolder;
  let dashboard: Dashboard;
  let browser: Browser;
  let page: Page;
  let faults: string[];
  let rooms: Instance;

  beforeAll(async () => {
    browser = await openBrowser([], 'dashboard');
    folder = temporaryFolder();
    const type = path.join(folder.path, 'connectors/rooms/src');
    mkdirSync(type, { recursive: true, mode: 0o700 });
    cpSync(path.join(root, 'test/fixtures/rooms-connector'), type, { recursive: true });
    dashboard = await openDashboard({}, folder.path);
    const made = await dashboard.house.post<{ instance: Instance }>(manager('/instances'), {
      type: 'rooms',
      name: 'My rooms',
      enabled: true,
      config: { token_secret_key: 'ROOMS_TOKEN' },
    });
    rooms = made.body.instance;
    // Axe is injected into the page, past its CSP; other tests check that the page itself keeps to it.
    const context = await browser.newContext({
      viewport: { width: 1280, height: 844 },
      bypassCSP: true,
      serviceWorkers: 'block',
    });
    page = await context.newPage();
    faults = watch(page);
    await signUp(page, dashboard);
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.house.stop();
    folder?.remove();
  });

  const manager = (route: string) => dashboard.house.urls.manager + route;
  const read = () =>
    dashboard.house.get<{ instance: Instance; announcements: HeldAnnouncement[] }>(manager(`/instances/${rooms.id}`));
  const status = async () => (await read()).instance.status;
  const row = () => page.getByRole('listitem').filter({ hasText: 'My rooms' });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const sent = () => {
    const file = path.join(folder.path, 'instances', rooms.id, 'sent');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  };

  test('a channel without its secret says so, and runs once it is entered', async () => {
    await expect.poll(status, { timeout: 20_000 }).toMatch(/failed|backoff/);
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Enter its secret' }).click();
    await row().getByText('ROOMS_TOKEN').first().waitFor();
    await row().getByRole('button', { name: 'Enter the secret' }).click();
    await page.getByLabel('ROOMS_TOKEN').fill('a-token-of-the-rooms');
    expect(await violationsInAllLooks(page, 'secret')).toEqual([]);
    await button('Keep it and restart').click();
    await expect.poll(status, { timeout: 20_000 }).toBe('running');
    await row().getByText('running').waitFor();
    expect(faults).toEqual([]);
  });

  test('the secret of a new channel replaces no other one', async () => {
    await dashboard.house.post(`${dashboard.house.urls.core}/v2/vault/secrets`, {
      name: 'MESSENGER_BOT_TOKEN',
      value: 'of a tool server',
    });
    await page.goto(`${dashboard.url}/channels`);
    await button('Add channel').click();
    const form = page.getByRole('dialog', { name: 'Add a channel' });
    await form.getByLabel('Kind').selectOption('messenger');
    await form.locator('input[type=password]').first().fill('4711:a-token-of-a-bot-that-does-not-exist');
    await form.getByRole('button', { name: 'Add channel' }).click();
    await form.waitFor({ state: 'detached' });
    const { instances } = await dashboard.house.get<{ instances: Instance[] }>(manager('/instances'));
    const made = instances.find(({ type }) => type === 'messenger');
    expect(made?.config['bot_token_secret_key']).toBe('MESSENGER_BOT_TOKEN_2');
    expect(JSON.parse(readFileSync(path.join(folder.path, 'secrets.json'), 'utf8'))).toMatchObject({
      MESSENGER_BOT_TOKEN: 'of a tool server',
      MESSENGER_BOT_TOKEN_2: '4711:a-token-of-a-bot-that-does-not-exist',
    });
    await fetch(manager(`/instances/${made?.id}`), { method: 'DELETE' });
    expect(faults).toEqual([]);
  });

  test('lists the rooms of a channel, and disables one', async () => {
    await row().getByRole('button', { name: 'Rooms' }).click();
    await page.getByLabel('The attic').click(); // it changes when the channel has it
    const open = async () =>
      (await dashboard.house.get<{ channels: ChannelInfo[] }>(manager(`/instances/${rooms.id}/channels`))).channels
        .filter(({ enabled }) => enabled)
        .map(({ id }) => id);
    await expect.poll(open).toEqual(['lobby']);
    await page.getByLabel('Find a room').fill('lob');
    await page.getByLabel('The attic').waitFor({ state: 'detached' });
    expect(await violationsInAllLooks(page, 'rooms')).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).click();
    expect(faults).toEqual([]);
  });

  test('sends a test message, holds one until the next start, and takes back another', async () => {
    const write = async (text: string, isHeld: boolean) => {
      await row().getByRole('button', { name: 'Send a test' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Room').fill('lobby');
      await dialog.getByLabel('Text').fill(text);
      if (isHeld) await dialog.getByLabel(/after its next start/).check();
      await dialog.getByRole('button', { name: 'Send it' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await write('now', false);
    await expect.poll(sent).toEqual(['lobby: now']);
    await write('back again', true);
    await write('never mind', true);
    await row().getByText('2 held messages').click();
    expect(await violationsInAllLooks(page, 'held')).toEqual([]);
    await row().getByRole('listitem').filter({ hasText: 'never mind' }).getByRole('button', { name: 'Take back' }).click();
    await expect.poll(async () => (await read()).announcements.map(({ text }) => text)).toEqual(['back again']);
    await row().getByRole('button', { name: 'Restart' }).click();
    await expect.poll(sent, { timeout: 40_000 }).toEqual(['lobby: now', 'lobby: back again']);
    await row().getByRole('button', { name: 'Logs' }).click();
    await page.getByText('the rooms are open').first().waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    expect(faults).toEqual([]);
  });

  test('a lost device is listed with its owner and signed out in four clicks', async () => {
    const [port = 0] = await freePorts(1);
    await dashboard.house.post(manager('/instances'), {
      type: 'device',
      name: 'Phones',
      enabled: true,
      config: { http_port: port },
    });
    const ask = async <Result>(method: string, params: object) =>
      (await dashboard.house.post<{ result: Result }>(manager('/instances/device/call'), { method, params })).body.result;
    const list = async () => (await ask<{ devices: ListedDevice[] } | undefined>('devices', {}))?.devices.map(({ name }) => name);
    await expect.poll(list, { timeout: 20_000 }).toEqual([]);
    const { code, identity } = await ask<Invitation>('invite', { name: 'Old phone' });
    const names = `${dashboard.house.urls.core}/trust/principals/owner`;
    await dashboard.house.post(`${names}/identifiers`, { surface: 'device', value: identity });
    const gateway = `http://127.0.0.1:${port}/gw`;
    const { token } = (await dashboard.house.post<Paired>(`${gateway}/pair`, { code })).body;
    const devices = async () => (await fetch(`${gateway}/devices`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await devices()).toBe(200);

    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Channels' }).click();
    const phones = page.getByRole('listitem').filter({ hasText: 'Phones' });
    await phones.getByRole('button', { name: 'Devices' }).click();
    await page.getByText(/^of root · .*let in/).waitFor();
    expect(await violationsInAllLooks(page, 'devices')).toEqual([]);
    await button('Sign out Old phone').click();
    await button('Sign out device').click();
    await page.getByText('None is paired.').waitFor();
    expect(await devices()).toBe(401);
    const values = async () => (await dashboard.house.get<Principal>(names)).identifiers.map(({ value }) => value);
    await expect.poll(values).not.toContain(identity);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    expect(faults).toEqual([]);
  });

  test('a device pairs by a link made here, as the chosen person, with the permissions that are ticked', async () => {
    const { body: ann } = await dashboard.house.post<Principal>(`${dashboard.house.urls.core}/trust/principals`, {
      key: 'ann',
      display_name: 'Ann',
    });
    const phones = page.getByRole('listitem').filter({ hasText: 'Phones' });
    const dialog = page.getByRole('dialog');
    await page.reload();
    await phones.getByRole('button', { name: 'Devices' }).click();
    await button('Add a device').click();
    await page.getByLabel('Name of the device').fill('New phone');
    await page.getByLabel('Owner').selectOption({ label: 'Ann (ann)' });
    expect(await violationsInAllLooks(page, 'add a device')).toEqual([]);
    await page.getByLabel('Name of the device').fill('New phone\u2069\u202e');
    await button('Make link').click();
    await page.getByText(/Waiting for the device/).waitFor();
    expect(await isInOrder(page, ', or scan it there.')).toBe(true);
    const link = new URL((await dialog.locator('.path').textContent()) ?? '');
    expect(await violationsInAllLooks(page, 'link of a device')).toEqual([]);
    const { token } = (
      await dashboard.house.post<Paired>(`${link.origin}/gw/pair`, { code: link.hash.replace('#pair=', ''), platform: 'Test' })
    ).body;
    await page.getByText('The device is connected.').waitFor();
    const answer = await fetch(`${link.origin}/gw/device`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ capabilities: [{ name: 'geolocation', description: 'Where it is', policy: 'read' }] }),
    });
    expect(answer.status).toBe(200);
    await button('Done').click();
    await page.getByText(/^of Ann · Test · let in/).waitFor();
    await page.getByRole('button', { name: /^Change .*New phone/ }).click();
    await page.getByLabel('geolocation').check();
    expect(await violationsInAllLooks(page, 'change a device')).toEqual([]);
    await page.getByLabel('Name of the device').fill('Pocket phone');
    await button('Save name').click();
    await button('Sign out Pocket phone').waitFor();
    const { result } = (
      await dashboard.house.post<{ result: { devices: ListedDevice[] } }>(manager('/instances/device/call'), {
        method: 'devices',
        params: {},
      })
    ).body;
    expect(result.devices).toMatchObject([{ name: 'Pocket phone', allowed: expect.arrayContaining(['geolocation']) }]);
    const known = await dashboard.house.get<Principal>(`${dashboard.house.urls.core}/trust/principals/${ann.id}`);
    expect(known.identifiers).toMatchObject([{ surface: 'device', value: result.devices[0]?.identity }]);
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect(faults).toEqual([]);
  });

  test('setting the rules of a channel keeps its other settings, and the core enforces them', async () => {
    const compat = async () =>
      (await dashboard.house.get<{ instances: Instance[] }>(manager('/instances'))).instances.find(({ id }) => id === 'compat');
    const before = (await compat())?.config ?? {};
    const ask = () =>
      fetch(`${dashboard.house.urls.compat}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${dashboard.house.key()}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'count 1' }] }),
      }).then(({ status: code }) => code);
    expect(await ask()).toBe(200);
    const other = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: 'Rules' }) });
    await other.getByRole('button', { name: 'Rules' }).first().click();
    await page.getByLabel('Working folder').fill('/no/such/folder');
    await page.getByLabel('everybody who is guest').check();
    expect(await violationsInAllLooks(page, 'rules')).toEqual([]);
    await button('Save rules').click();
    await page.getByRole('dialog').locator('.field-words').getByText('It names a folder that cannot be used').waitFor();
    await page.getByLabel('Working folder').fill('');
    await button('Save rules').click();
    await expect.poll(async () => (await compat())?.config).toEqual({ ...before, allow: ['role:guest'] });
    await expect.poll(ask, { timeout: 20_000 }).toBe(403);
    expect(faults).toEqual([]);
  });

  test('does not overwrite settings that another person changed in the meantime', async () => {
    await page.reload();
    const other = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: 'Rules' }) });
    await other.getByRole('button', { name: 'Rules' }).first().click();
    await fetch(manager('/instances/compat'), {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'renamed meanwhile' }),
    });
    // Also when the list behind has it by then.
    await page.getByText('renamed meanwhile').first().waitFor();
    await page.getByLabel('everybody who is guest').uncheck();
    await button('Save rules').click();
    await page.getByText('These settings have been changed in the meantime').waitFor();
    const { instance } = await dashboard.house.get<{ instance: Instance }>(manager('/instances/compat'));
    expect(instance.config['allow']).toEqual(['role:guest']);
    expect(faults).toEqual([]);
  });
});
