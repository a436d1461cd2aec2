import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Announcement } from '@svc/contract/announcement.ts';
import type { Backup } from '@svc/contract/backup.ts';
import type { Principal, Role } from '@svc/contract/trust.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { openScreen } from './dashboard/go.ts';
import type { Account, Dashboard } from './dashboard/open-dashboard.ts';
import { openSignedIn } from './dashboard/open-signed-in.ts';
import { whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();

/** Forms that are filled in incorrectly or at the wrong moment. */
describe.skipIf(why !== null)(`forms of the dashboard${skipNote(why)}`, () => {
  let dashboard: Dashboard;
  let page: Page;
  let account: Account;
  let faults: string[];
  let close: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    ({ dashboard, page, account, faults, close } = await openSignedIn({}, { viewport: { width: 360, height: 740 } }));
  });
  afterAll(() => close?.());
  const open = (place: string) => openScreen(page, dashboard, place);
  const click = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const dialog = () => page.getByRole('dialog').last();
  const inDialog = (name: string) => dialog().getByRole('button', { name, exact: true });
  const focused = () =>
    page.evaluate<string>('document.activeElement.labels?.[0]?.textContent ?? document.activeElement.tagName');
  const core = () => dashboard.house.urls.core;
  const fromCore = <T>(route: string) => dashboard.house.get<T>(core() + route);
  const people = async () => (await fromCore<{ principals: Principal[] }>('/trust/principals')).principals;

  test('a dialog shows why the service refused its request, and keeps the input until it is closed', async () => {
    await open('/settings/secrets');
    await click('Add secret');
    await page.keyboard.type('PATH');
    await dialog().getByLabel('Value', { exact: true }).fill('what was pasted');
    await inDialog('Keep secret').click();
    const words = dialog().getByText('is set in the environment');
    await words.waitFor();
    await words.click({ trial: true }); // nothing lies over it
    expect(await dialog().getByLabel('Value', { exact: true }).inputValue()).toBe('what was pasted');
    await inDialog('Keep secret').click();
    await words.waitFor();
    await inDialog('Cancel').click();
    await expect.poll(() => page.getByText('is set in the environment').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('focuses the invalid field and shows its error there', async () => {
    await open('/settings/limits');
    await click('Set budget');
    await inDialog('Set budget').click();
    await dialog().getByText('This field is required.').first().waitFor();
    expect(await focused()).toBe('Channel');
    await page.keyboard.type('compat');
    await dialog().getByLabel('Sender').fill('laptop');
    await dialog().getByLabel('USD a month').fill('0x10');
    await inDialog('Set budget').click();
    await dialog().getByText('“0x10” is not a number.').waitFor();
    await dialog().getByLabel('USD a month').fill('-5');
    await inDialog('Set budget').click();
    await dialog().getByText('It must be 0 or more.').waitFor();
    expect(await focused()).toBe('USD a month');
    expect(await dialog().getByText('month_usd').count()).toBe(0);
    await page.keyboard.press('Escape');
    expect(faults).toEqual([]);
  });

  test('reports the outcome of a change that got no answer as unknown', async () => {
    await open('/settings/limits');
    await click('Set budget');
    await dialog().getByLabel('Channel').fill('compat');
    await dialog().getByLabel('Sender').fill('laptop');
    await dialog().getByLabel('USD a month').fill('5');
    await page.route('**/core/v2/spend/budget', (route) => route.abort(), { times: 1 });
    await inDialog('Set budget').click();
    await dialog().getByText('It is unknown whether this was done').waitFor();
    await inDialog('Set budget').click();
    await page.getByText('laptop (compat)').waitFor();
    expect(faults).toEqual([]);
  });

  test('adds people whose names have no Latin letters or give a key that is taken', async () => {
    await dashboard.house.post(`${core()}/v2/handle`, {
      channel: 'messenger',
      conversation_key: 'messenger:m:user:77',
      sender: { raw_id: '77', raw_username: '\u0410\u043d\u043d\u0430' },
      content: { text: 'hello' },
    });
    await open('/people');
    await click('Let in');
    await inDialog('Let in').click();
    await page.getByRole('button', { name: '\u0410\u043d\u043d\u0430 (guest)' }).waitFor();
    for (const name of ['\u738b\u4f1f', 'Owner']) {
      await click('Add person');
      await page.keyboard.type(name);
      await inDialog('Add person').click();
      await page.getByText(`${name} is added.`).waitFor();
    }
    expect((await people()).map(({ key }) => key)).toEqual(expect.arrayContaining(['guest', 'guest-2', 'owner-2']));
    expect(faults).toEqual([]);
  });

  test('a person who was added without a role gets it on retry', async () => {
    await open('/people');
    await click('Add person');
    await page.keyboard.type('Dora');
    await page.route('**/grants', (route) => route.abort(), { times: 1 });
    await inDialog('Add person').click();
    await dialog().getByText('Dora is added, but has no role yet').waitFor();
    await inDialog('Give role').click();
    await page.getByText('Dora is added.').waitFor();
    const made = (await people()).filter(({ display_name: name }) => name === 'Dora');
    expect(made).toMatchObject([{ key: 'dora', grants: [{ role: 'guest' }] }]);
    expect(faults).toEqual([]);
  });

  test('does not overwrite changes that another person made to a person or a role in the meantime', async () => {
    const { body: carl } = await dashboard.house.post<Principal>(`${core()}/trust/principals`, {
      key: 'carl',
      display_name: 'Carl',
    });
    const itself = `${core()}/trust/principals/${carl.id}`;
    await dashboard.house.post(`${itself}/grants`, { role_id: 'guest' });
    await open('/people');
    await click('Carl (carl)');
    await dialog().getByRole('form', { name: 'Facts' }).getByLabel('Name').fill('Carl B.');
    await requestJson(itself, { method: 'PATCH', body: { notes: 'met in May' }, timeoutMs: 10_000 });
    await inDialog('Revoke guest').click(); // has the people read again
    await dialog().getByText('None. A person without a role is refused.').waitFor();
    await inDialog('Save facts').click();
    await dialog().getByText('Saved.').waitFor();
    expect((await people()).find(({ key }) => key === 'carl')).toMatchObject({ display_name: 'Carl B.', notes: 'met in May' });
    await page.keyboard.press('Escape');

    const roles = async () => (await fromCore<{ roles: Role[] }>('/trust/roles')).roles;
    const guest = (await roles()).find(({ name }) => name === 'guest');
    await click('Add role');
    await page.keyboard.type('Guest');
    await dialog().getByText('A role guest already exists.').waitFor();
    expect(await inDialog('Save role').isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await inDialog('Discard').click();
    await click('guest');
    await dashboard.house.post(`${core()}/trust/roles`, { ...guest, id: undefined, description: 'of another tab' });
    await dialog().getByText('This role has been changed in the meantime.').waitFor();
    expect(await inDialog('Save role').isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    expect(faults).toEqual([]);
  });

  test('adding a secret does not replace an existing one of the same name', async () => {
    await dashboard.house.post(`${core()}/v2/vault/secrets`, { name: 'GARDEN_KEY', value: 'the first one' });
    await open('/settings/secrets');
    await page.getByText('GARDEN_KEY').first().waitFor();
    await click('Add secret');
    await page.keyboard.type('GARDEN_KEY');
    await dialog().getByLabel('Value', { exact: true }).fill('the second one');
    await dialog().getByText('A secret GARDEN_KEY already exists.').waitFor();
    expect(await inDialog('Keep secret').isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    expect(faults).toEqual([]);
  });

  test('refuses a note over the size limit, and asks before removing a backup', async () => {
    await open('/settings/announcements');
    await click('Post a note');
    await dialog().getByRole('textbox', { name: 'Note' }).fill('n'.repeat(4001));
    await inDialog('Post note').click();
    await dialog().getByText('It has 4,001 characters, and a note at most 4,000.').waitFor();
    expect((await fromCore<{ announcements: Announcement[] }>('/v2/announcements')).announcements).toEqual([]);

    const backups = async () => (await fromCore<{ backups: Backup[] }>('/v2/backups')).backups;
    await dashboard.house.post(`${core()}/v2/backups`);
    await expect.poll(async () => (await backups()).map(({ state }) => state)).toEqual(['done']);
    await open('/settings/backups');
    await click('Remove backup');
    await inDialog('Cancel').click();
    expect(await backups()).toHaveLength(1);
    await click('Remove backup');
    await inDialog('Remove backup').click();
    await page.getByText('The backup is removed.').waitFor();
    expect(await backups()).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('a wrong current password is reported at its field, and the new one is kept', async () => {
    await open('/settings/account');
    await click('Change the password');
    await page.keyboard.type('not the one at all');
    await dialog().getByLabel('New password').fill('five other plain words');
    await inDialog('Change password').click();
    await dialog().getByText('The current password is wrong.').waitFor();
    expect(await dialog().getByLabel('Current password').getAttribute('aria-invalid')).toBe('true');
    expect(await dialog().getByLabel('New password').inputValue()).toBe('five other plain words');
    await page.keyboard.press('Escape');
    expect(faults).toEqual([]);
  });

  test('when the login has ended, signing in over a form sends the form', async () => {
    await open('/settings/limits');
    await click('Set budget');
    await page.keyboard.type('compat');
    await dialog().getByLabel('Sender').fill('desk');
    await dialog().getByLabel('USD a month').fill('7');
    const db = new DatabaseSync(path.join(dashboard.house.folder, 'login.db'), { timeout: 10_000 });
    db.exec('DELETE FROM login_session');
    db.close();
    await inDialog('Set budget').click();
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
    await dialog().getByLabel('Password').fill(account.password);
    await dialog()
      .getByLabel('Code')
      .fill(account.recoveryCodes[0] ?? '');
    await inDialog('Sign in').click();
    await page.getByText('desk (compat)').waitFor();
    expect(faults).toEqual([]);
  });

  test('a dialog that the browser closes by itself, as at a second Escape, can be opened again', async () => {
    await open('/settings/limits');
    await click('Set budget');
    await page.evaluate("document.querySelector('dialog').close()");
    await expect.poll(() => page.locator('dialog').count()).toBe(0);
    await click('Set budget');
    await inDialog('Set budget').waitFor();
    expect(faults).toEqual([]);
  });

  test('Escape does not close a dialog that is saving, and a tool server added meanwhile is not replaced', async () => {
    await open('/settings/tools');
    await click('Add tool server');
    const form = page.getByRole('dialog', { name: 'Add a tool server' });
    await form.getByLabel('Name').fill('kit');
    await form.getByLabel('Program').fill('other');
    const kit = { name: 'kit', command: 'first' };
    await dashboard.house.post(`${core()}/v2/mcp`, kit);
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const route = '**/v2/mcp';
    await page.route(route, async (call) => {
      if (call.request().method() === 'POST') await held;
      await call.fallback();
    });
    await inDialog('Add tool server').click();
    await page.keyboard.press('Escape');
    await page.evaluate("document.querySelector('dialog').close()"); // as a second Escape does
    await expect.poll(() => page.getByRole('dialog').count()).toBe(1);
    letGo();
    await form.getByRole('alert').waitFor();
    expect(await form.getByRole('alert').textContent()).toContain('already exists');
    await page.unroute(route);
    const { servers } = await fromCore<{ servers: Record<string, object> }>('/v2/mcp');
    expect(servers['kit']).toMatchObject({ command: 'first' });
    await form.getByRole('button', { name: 'Cancel' }).click();
  });

  test('Escape, the cross, a second Escape and going back do not discard typed text without a question', async () => {
    await page.goto(`${dashboard.url}/settings`); // with no history but its own
    await page
      .getByRole('link', { name: /^Limits/ })
      .first()
      .click();
    await click('Set budget');
    const form = page.getByRole('dialog', { name: 'Set a budget' });
    const sender = form.getByLabel('Sender');
    const question = page.getByRole('dialog', { name: 'Discard what you typed?' });
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
    await click('Set budget');
    await sender.fill('laptop');
    await sender.fill('');
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });

    await click('Set budget');
    await sender.fill('laptop');
    const ways: (() => Promise<unknown>)[] = [
      () => page.keyboard.press('Escape'),
      () => form.getByRole('button', { name: 'Close', exact: true }).click(),
      () => page.evaluate("document.querySelector('dialog').close()"), // as a second Escape does
      () => page.evaluate('history.back()'),
    ];
    for (const way of ways) {
      await way();
      await question.waitFor();
      expect(await page.evaluate("document.activeElement.closest('dialog').textContent")).toContain('It is not saved yet.');
      await question.getByRole('button', { name: 'Keep typing' }).click();
      await question.waitFor({ state: 'detached' });
      expect(await sender.inputValue()).toBe('laptop');
      expect(page.url()).toContain('/settings/limits');
    }
    await sender.focus();
    await page.keyboard.press('Escape');
    await question.waitFor();
    await page.keyboard.press('Escape'); // closes the question alone
    await question.waitFor({ state: 'detached' });
    expect(await focused()).toBe('Sender');
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Discard' }).click();
    await form.waitFor({ state: 'detached' });

    await click('Set budget');
    await sender.fill('laptop');
    await page.evaluate('history.back()');
    await question.getByRole('button', { name: 'Discard' }).click();
    await page.waitForURL('**/settings');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('closes without asking after saving or searching; leaving a file picker closes no dialog', async () => {
    await dashboard.house.post<Principal>(`${core()}/trust/principals`, { key: 'erna', display_name: 'Erna' });
    await open('/people');
    await click('Erna (erna)');
    await dialog().getByLabel('Channel', { exact: true }).fill('messenger');
    await dialog().getByLabel('Name or number there').fill('4711');
    await inDialog('Link').click();
    await inDialog('Unlink messenger 4711').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);

    await page.keyboard.press('Control+k');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.type('limits');
    await inDialog('Close').click(); // Escape would empty the field first
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);

    await open('/settings/tools');
    await click('Import');
    await dialog().getByLabel('File').dispatchEvent('cancel', { bubbles: true });
    await dialog().getByLabel('What is in it').fill('{"mcpServers":{}}');
    await inDialog('Import tool servers').click();
    await dialog().getByText('There is no tool server in it.').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('a double click submits once', async () => {
    await open('/people');
    await click('Invite a person');
    await inDialog('Make invitation').dblclick();
    await dialog().getByRole('button', { name: 'Copy code' }).waitFor();
    expect((await fromCore<{ invitations: unknown[] }>('/trust/invitations')).invitations).toHaveLength(1);
    expect(await page.evaluate('document.activeElement.closest("dialog") !== null')).toBe(true);
    await page.keyboard.press('Escape');
    expect(faults).toEqual([]);
  });

  test('reports a missing price and an invalid address at their fields', async () => {
    await open('/settings/limits');
    await click('Set price');
    await page.keyboard.type('my-model');
    await inDialog('Set price').click();
    await dialog().getByText('Give at least one price.').waitFor();
    await page.keyboard.press('Escape');
    await open('/settings/engines');
    await click('Change codex');
    await dialog().getByLabel('Address of your own model server').fill('nonsense');
    await inDialog('Save address').click();
    await dialog().locator('.field-words').getByText('The address must begin with http:// or https://').waitFor();
    await page.keyboard.press('Escape');
    expect(faults).toEqual([]);
  });

  test('shows that a page is loading at once, and says when it takes longer than usual', async () => {
    const waiting: (() => Promise<void>)[] = [];
    await page.route('**/core/v2/auth/verify*', (route) => void waiting.push(() => route.continue()));
    await page.route('**/core/v2/backups', (route) => void waiting.push(() => route.continue()));
    await page.goto(`${dashboard.url}/settings/backups`);
    await page.locator('.skeleton i').first().waitFor();
    await expect.poll(() => waiting.length).toBe(1);
    await waiting[0]?.();
    await page.getByRole('heading', { name: 'Backups' }).waitFor();
    await page.getByText('This takes longer than usual.').first().waitFor();
    await waiting[1]?.();
    await page.getByText('There is none.').waitFor();
    expect(await page.getByText('This takes longer than usual.').count()).toBe(0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(faults).toEqual([]);
  });

  test('a heading fits on one line on the narrowest page', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    await open('/channels');
    const heading = page.getByRole('heading', { name: 'Channels' });
    await heading.waitFor();
    expect((await heading.boundingBox())?.height).toBeLessThan(40);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(faults).toEqual([]);
  });

  test('long names do not make a dialog wider than a phone', async () => {
    const made = await dashboard.house.post<Principal>(`${core()}/trust/principals`, {
      key: 'long',
      display_name: 'W'.repeat(80),
    });
    const identifier = { surface: 'messenger', value: 'v'.repeat(256) };
    await dashboard.house.post(`${core()}/trust/principals/${made.body.id}/identifiers`, identifier);
    await open('/people');
    await page.getByRole('button', { name: /^W{80}/ }).click();
    const over = () =>
      page.evaluate<number>(
        "(([{ scrollWidth, clientWidth }]) => scrollWidth - clientWidth)([...document.querySelectorAll('dialog')].slice(-1))",
      );
    expect(await over()).toBe(0);
    await dialog().getByRole('button', { name: /^Move/ }).click();
    expect(await over()).toBe(0);
    expect(faults).toEqual([]);
  });
});
