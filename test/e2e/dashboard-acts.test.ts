import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Instance } from '@svc/contract/instance.ts';
import type { Principal, TrustChange } from '@svc/contract/trust.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { openScreen } from './dashboard/go.ts';
import { type Account, ageProof, type Dashboard, isLive, signIn } from './dashboard/open-dashboard.ts';
import { openSignedIn } from './dashboard/open-signed-in.ts';
import { pictures } from './dashboard/violations.ts';
import { say, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();

/** Runs in the page: the routes of Playwright do not see requests that a service worker passes on. */
const endLoginsAsOneSends = `{
  const { fetch } = globalThis;
  globalThis.fetch = async (...given) => {
    if (given[0] === '/chat/turn') {
      globalThis.fetch = fetch;
      await endLogins();
    }
    return await fetch(...given);
  };
}`;

/** What an operator does to people and sessions in the browser, and its effect in the service. */
describe.skipIf(why !== null)(`actions in the dashboard${skipNote(why)}`, () => {
  let dashboard: Dashboard;
  let browser: Browser;
  let page: Page;
  let account: Account;
  let faults: string[];
  let close: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    ({ dashboard, browser, page, account, faults, close } = await openSignedIn());
  });
  afterAll(() => close?.());
  const core = () => dashboard.house.urls.core;
  const open = (place: string) => openScreen(page, dashboard, place);
  const stranger = (sender: string) =>
    dashboard.house.post(`${core()}/v2/handle`, {
      channel: 'messenger',
      conversation_key: `messenger:m:user:${sender}`,
      sender: { raw_id: sender, raw_username: 'Ben' },
      content: { text: 'hello' },
    });
  const endLogins = () => {
    const db = new DatabaseSync(path.join(dashboard.house.folder, 'login.db'), { timeout: 10_000 });
    db.exec('DELETE FROM login_session');
    db.close();
  };
  const people = async () => (await dashboard.house.get<{ principals: Principal[] }>(`${core()}/trust/principals`)).principals;

  test('a stranger shown on Home can be let in, and the audit log names who did it', async () => {
    await stranger('4711');
    await open('/');
    await page.getByText('1 stranger waits to be let in').waitFor();
    await page.getByRole('link', { name: 'Show them' }).click();
    await page.getByRole('button', { name: 'Let in', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Ben');
    await page.getByRole('dialog').getByRole('button', { name: 'Let in' }).click();
    await page.getByRole('button', { name: 'Ben (ben)' }).waitFor();
    expect((await people()).find(({ key }) => key === 'ben')?.identifiers).toMatchObject([
      { surface: 'messenger', value: '4711' },
    ]);
    const { audit: changes } = await dashboard.house.get<{ audit: TrustChange[] }>(`${core()}/trust/audit`);
    expect(changes.filter(({ principal }) => principal === 'ben').map(({ actor }) => actor)).toContain(account.name);
    expect(faults).toEqual([]);
  });

  test('explains why a sender is refused', async () => {
    await open('/people');
    await page.getByLabel('Channel of the sender').fill('messenger');
    await page.getByLabel('Their name or number there').fill('nobody');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('refused', { exact: true }).waitFor();
    await page.getByText('nobody is not known.').waitFor();
    expect(faults).toEqual([]);
  });

  test('the last owner cannot be revoked or removed, and the reason is shown', async () => {
    await open('/people');
    await page
      .getByRole('button', { name: /\(owner\)|^owner$/ })
      .first()
      .click();
    expect(await page.getByRole('button', { name: 'Revoke owner' }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Remove person' }).isDisabled()).toBe(true);
    await page.getByText('The last owner stays the owner').first().waitFor();
    await page.keyboard.press('Escape');
  });

  test('[13] a dangerous action asks for the second factor again after ten minutes, then completes', async () => {
    ageProof(dashboard);
    await open('/people');
    await page.getByRole('button', { name: 'Add person' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Carla');
    await page.getByRole('dialog').getByRole('button', { name: 'Add person' }).click();
    await page.getByRole('heading', { name: 'Is it you?' }).waitFor();
    expect((await people()).map(({ key }) => key)).not.toContain('carla');
    await page.getByLabel('Code').fill(account.recoveryCodes[0] ?? '');
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('button', { name: 'Carla (carla)' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('[13] an automatic refresh never asks for a second factor', async () => {
    await open('/settings/secrets');
    await expect.poll(() => page.getByRole('button', { name: 'Add secret' }).isEnabled()).toBe(true);
    await isLive(page);
    ageProof(dashboard);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const gap = 'event: gap\ndata: {"type":"gap","of":"core"}\n\n';
    await page.route('**/live', (route) => route.fulfill({ contentType: 'text/event-stream', body: gap }), { times: 1 });
    await page.evaluate("dispatchEvent(new Event('online'))");
    await expect.poll(() => asked.some((name) => name.startsWith('/core/'))).toBe(true);
    expect(asked).not.toContain('/core/v2/secrets');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('[14] when the login ends as a message is sent, signing in over the page sends it', async () => {
    await open('/chat');
    // Just as the message is sent: if another request found out first, it would open the dialog too early.
    await page.exposeFunction('endLogins', endLogins);
    await page.evaluate(endLoginsAsOneSends);
    await say(page, 'count 2');
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
    await page.getByLabel('Password').fill(account.password);
    await page.getByLabel('Code').fill(account.recoveryCodes[1] ?? '');
    await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
    await expect.poll(() => page.locator('.reply').last().textContent()).toMatch(/1\s*2/);
    expect(await page.locator('.said').count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test('adds, configures and removes a channel, and shows input errors at their field', async () => {
    const instances = async () =>
      (await dashboard.house.get<{ instances: Instance[] }>(`${dashboard.house.urls.manager}/instances`)).instances;
    const [port = 0] = await freePorts(1);
    await open('/channels');
    await page.getByRole('button', { name: 'Add channel' }).click();
    await page.getByLabel('Kind').selectOption('compat');
    await page.getByRole('dialog').getByLabel('Name').fill('second API');
    await page.getByText('More settings').click();
    await page.getByLabel('HTTP port').fill('many');
    await page.getByRole('dialog').getByRole('button', { name: 'Add channel' }).click();
    await page.getByText('“many” is not a whole number.').waitFor();
    await page.getByLabel('HTTP port').fill(String(port));
    await page.getByRole('dialog').getByRole('button', { name: 'Add channel' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'second API' });
    await row.getByText('running').waitFor();
    await row.getByRole('button', { name: 'Configure' }).click();
    await page.getByText('More settings').click();
    expect(await page.getByLabel('HTTP port').inputValue()).toBe(String(port));
    await page.getByLabel('Advertised model id').fill('mine');
    await page.getByRole('button', { name: 'Save and restart' }).click();
    await expect
      .poll(async () => (await instances()).find(({ name }) => name === 'second API')?.config)
      .toMatchObject({ port, model_name: 'mine' });
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Remove channel' }).click();
    await expect.poll(async () => (await instances()).map(({ name }) => name)).not.toContain('second API');
    expect(faults).toEqual([]);
  });

  test('tries an engine, restores a backup only after its day is typed, and signs out another browser', async () => {
    const other = await browser.newContext({ serviceWorkers: 'block' });
    const shown = await other.newPage();
    await shown.goto(`${dashboard.url}/login`);
    await signIn(shown, account, account.recoveryCodes[2] ?? '');
    await isLive(shown);
    await open('/settings');
    await page.getByRole('link', { name: 'Engines' }).click();
    await page.getByRole('button', { name: 'Try offline' }).click();
    await page.getByText(/offline said/).waitFor();
    await page.getByRole('link', { name: 'Backups' }).click();
    await page.getByRole('button', { name: 'Make a backup' }).click();
    await page.getByRole('button', { name: 'Restore', exact: true }).click();
    expect(await page.getByRole('button', { name: 'Restore backup' }).isDisabled()).toBe(true);
    await page.getByLabel(/Type the day/).fill(new Date().toISOString().slice(0, 10));
    await page.getByRole('button', { name: 'Restore backup' }).click();
    await page.getByText('is restored at the next start').first().waitFor();
    await page.getByRole('link', { name: 'Home' }).click();
    const waits = page.getByRole('listitem').filter({ hasText: 'A backup will be restored' });
    await waits.getByRole('link', { name: 'Go to the settings' }).click();
    await page.getByRole('button', { name: 'Take the restore back' }).click();
    await page.getByRole('button', { name: 'Take the restore back' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Account' }).click();
    await page.getByRole('button', { name: 'Sign out there' }).click();
    await shown.goto(`${dashboard.url}/sessions`);
    await shown.getByLabel('Password').waitFor();
    expect(new URL(shown.url()).pathname).toBe('/login');
    await other.close();
    expect(faults).toEqual([]);
  });

  test('[30] shows hostile text as text: it runs no script and sends no request', async () => {
    const host = 'https://evil.example';
    const bad = [
      '<img src=x onerror="globalThis.hit=1">',
      '<script>globalThis.hit=1</script>',
      '<svg onload="globalThis.hit=1"><a xlink:href="javascript:globalThis.hit=1">x</a></svg>',
      '[click](javascript:globalThis.hit=1) ![p](' + host + '/p.png) <' + host + '/a>',
      '</title><iframe srcdoc="<script>parent.hit=1</script>"></iframe>',
      '"><style>@import "' + host + '/x.css"</style>',
      '{{constructor.constructor("globalThis.hit=1")()}} ${globalThis.hit=1}',
      '\u001b]8;;javascript:globalThis.hit=1\u0007x\u001b]8;;\u0007 \u202egnp.exe',
    ];
    const asked: string[] = [];
    page.on(
      'request',
      (request) => !request.url().startsWith(dashboard.url) && !request.url().startsWith('blob:') && asked.push(request.url()),
    );
    for (const [index, text] of bad.entries()) {
      await dashboard.house.post(`${core()}/v2/handle`, {
        channel: 'messenger',
        conversation_key: `messenger:m:user:x${index}`,
        sender: { raw_id: `x${index}`, raw_username: text.slice(0, 200) },
        content: { text },
      });
      await dashboard.house.post(`${core()}/v2/handle`, {
        channel: 'compat',
        conversation_key: `compat:compat:session:bad${index}`,
        sender: { raw_id: 'owner' },
        content: { text },
      });
    }
    for (const place of ['/', '/sessions', '/people', '/activity', '/activity?tab=audit', '/search?q=globalThis', '/costs']) {
      await open(place);
      await page.locator('.rows-list > li, .facts tbody tr, .events li').first().waitFor();
    }
    for (const index of bad.keys()) {
      await open(`/sessions/${encodeURIComponent(`compat:compat:session:bad${index}`)}`);
      await page.locator('.said .bubble').first().waitFor();
    }
    expect(await page.evaluate('globalThis.hit')).toBeUndefined();
    expect(asked).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('a session found by search opens at the match, and is forgotten after a confirmation', async () => {
    await open('/search?q=count');
    await page.locator('.snippet mark').first().waitFor();
    await page.getByRole('link', { name: 'count 2' }).first().click();
    // Opened where it was said, not at its end.
    await expect.poll(() => page.getByRole('searchbox', { name: 'Find in this conversation' }).inputValue()).toBe('count');
    await page.getByText(/^1 of \d+/).waitFor();
    await page.getByRole('tab', { name: 'Facts' }).click();
    await page.getByRole('button', { name: 'Forget session' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Forget session' }).click();
    await expect.poll(async () => (await fetch(`${core()}/v2/session/${encodeURIComponent('web:Anna:main')}`)).status).toBe(404);
    expect(faults).toEqual([]);
  });

  test('the search field has the words that were looked for, also after going back, and `/` keeps what was found', async () => {
    await open('/search?q=count');
    const field = page.getByRole('searchbox', { name: 'Words to find' });
    await page.locator('.snippet mark').first().waitFor();
    await field.fill('nowhere');
    await page.keyboard.press('Enter');
    await page.getByText('No event has all these words').waitFor();
    await page.goBack();
    await page.locator('.snippet mark').first().waitFor();
    await expect.poll(() => field.inputValue()).toBe('count');
    await page.locator('#main').focus();
    await page.keyboard.press('/');
    await page.locator('input[type=search]:focus').waitFor();
    expect(new URL(page.url()).search).toBe('?q=count');
    expect(await page.locator('.snippet mark').count()).toBeGreaterThan(0);
    expect(faults).toEqual([]);
  });

  test('the list of sessions keeps the keyboard where it is while it is filtered', async () => {
    await open('/sessions');
    const box = page.getByLabel('Only those working now');
    await box.focus();
    const read = page.waitForResponse((response) => response.url().includes('active=1'));
    await page.keyboard.press('Space');
    await read;
    await expect.poll(() => box.isChecked()).toBe(true);
    expect(await page.evaluate('document.activeElement.type')).toBe('checkbox');
    expect(faults).toEqual([]);
  });

  test('events stay where they are while a person reads, and none is missing between the pages', async () => {
    let newest = 300;
    const eventAt = (number: number) => ({
      id: `e${number}`,
      ts: number,
      kind: 'test',
      session: null,
      text: `number ${number}`,
      payload: {},
    });
    await page.route('**/collector/api/events?*', (route) => {
      const before = new URL(route.request().url()).searchParams.get('before');
      const from = before === null ? newest : Number(before.slice(1)) - 1;
      const events = Array.from({ length: 100 }, (_, index) => eventAt(from - index));
      return route.fulfill({ json: { events, next_before: events.at(-1)?.id ?? null } });
    });
    const shown = async () => (await page.locator('.event-text').allTextContents()).map((text) => Number(text.split(' ')[1]));
    const down = (from: number, count: number) => Array.from({ length: count }, (_, index) => from - index);
    await open('/activity');
    await page.getByRole('button', { name: 'Show older ones' }).click();
    await expect.poll(shown).toEqual(down(300, 200));
    newest = 350;
    // The page comes back into sight later: what is old by then is read again.
    const again = page.waitForResponse('**/core/trust/principals*');
    await page.evaluate('{ const { now } = Date; Date.now = () => now() + 60_000; }');
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    await again;
    expect(await shown()).toEqual(down(300, 200));
    await stranger('4712');
    await page.getByRole('button', { name: /^Show \d+ new event/ }).click();
    await expect.poll(shown).toEqual(down(350, 100));
    await page.getByRole('button', { name: 'Show older ones' }).click();
    await expect.poll(shown).toEqual(down(350, 200));
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(faults).toEqual([]);
  });

  test(
    'imports a backup with its secrets from a file and restores it when the service is restarted from the page',
    { timeout: 180_000 },
    async () => {
      const secrets = path.join(dashboard.house.folder, 'secrets.json');
      writeFileSync(secrets, JSON.stringify({ OF_THEN: 'what was kept then' }), { mode: 0o600 });
      await open('/settings/backups');
      await page.getByRole('button', { name: 'Make one with secrets' }).click();
      await page.getByLabel('Passphrase', { exact: true }).fill('six words that nobody else knows');
      await page.getByLabel('Passphrase once more').fill('six words that nobody knows');
      await page.getByText('The two are not the same.').waitFor();
      await page.getByLabel('Passphrase once more').fill('six words that nobody else knows');
      await pictures(page, 'backup-with-secrets');
      await page.getByRole('button', { name: 'Make backup' }).click();
      const made = page.getByRole('listitem').filter({ hasText: 'with secrets' });
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        made.getByRole('button', { name: /^Download/ }).click(),
      ]);
      writeFileSync(secrets, '{}', { mode: 0o600 });
      await dashboard.house.post(`${core()}/trust/principals`, { key: 'later', display_name: 'Later' });

      await page.getByRole('button', { name: 'Import a backup' }).click();
      await page.getByLabel('File of the backup').setInputFiles(await download.path());
      await page.getByLabel('Passphrase of its secrets').fill('wrong words');
      await page.getByRole('button', { name: 'Import backup' }).click();
      await page.getByRole('dialog').locator('.fault').waitFor();
      await pictures(page, 'backup-import');
      await page.getByLabel('Passphrase of its secrets').fill('six words that nobody else knows');
      await page.getByRole('button', { name: 'Import backup' }).click();
      await page.getByRole('button', { name: 'Restart the service' }).click();
      await pictures(page, 'restart-service');
      await page.getByRole('button', { name: 'Restart service' }).click();
      await page.getByText('is in place. What was there before is kept until the next start.').waitFor({ timeout: 100_000 });
      expect((await people()).map(({ key }) => key)).not.toContain('later');
      expect(JSON.parse(readFileSync(secrets, 'utf8'))).toEqual({ OF_THEN: 'what was kept then' });
      expect(faults).toEqual([]);
    },
  );
});
