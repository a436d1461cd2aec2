import { DatabaseSync } from 'node:sqlite';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExplainedIdentity, Principal, Role } from '@svc/contract/trust.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { openScreen } from './dashboard/go.ts';
import type { Account, Dashboard } from './dashboard/open-dashboard.ts';
import { openSignedIn } from './dashboard/open-signed-in.ts';
import { violationsInAllLooks } from './dashboard/violations.ts';
import { whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();

/** Every action on the screen of people, and its effect on their rights in the core. */
describe.skipIf(why !== null)(`people in the dashboard${skipNote(why)}`, () => {
  let dashboard: Dashboard;
  let page: Page;
  let account: Account;
  let faults: string[];
  let close: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    // Axe is injected into the page, past its CSP; other tests check that the page itself keeps to it.
    const options = { viewport: { width: 1280, height: 844 }, bypassCSP: true };
    ({ dashboard, page, account, faults, close } = await openSignedIn({}, options));
  });
  afterAll(() => close?.());

  const core = (route: string) => dashboard.house.urls.core + route;
  const open = (place: string) => openScreen(page, dashboard, place);
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const part = (name: string) => page.getByRole('region', { name, exact: true });
  const say = (sender: string, key = `messenger:m:user:${sender}`) =>
    dashboard.house.post<{ outcome: string }>(core('/v2/handle'), {
      channel: 'messenger',
      conversation_key: key,
      sender: { raw_id: sender, raw_username: `name of ${sender}` },
      content: { text: `hello from ${sender}` },
    });
  const outcome = async (sender: string, key?: string) => (await say(sender, key)).body.outcome;
  const judged = async (sender: string, channel = 'messenger') =>
    (
      await dashboard.house.post<ExplainedIdentity>(core('/trust/resolve'), {
        channel,
        sender: { raw_id: sender },
        conversation_key: `${channel}:m:user:${sender}`,
      })
    ).body;
  const person = async (key: string) => dashboard.house.get<Principal>(core(`/trust/principals/${key}`));
  const roles = async () => (await dashboard.house.get<{ roles: Role[] }>(core('/trust/roles'))).roles;
  const openPerson = async (name: string) => {
    await open('/people');
    await button(new RegExp(`^${name}`))
      .first()
      .click();
    await page.getByRole('dialog').waitFor();
  };
  const inDb = (file: string, sql: string) => {
    const db = new DatabaseSync(path.join(dashboard.house.folder, file), { timeout: 10_000 });
    db.exec(sql);
    db.close();
  };

  test('finds one of thousands of people by name or number, and counts them all', async () => {
    const many = 2500;
    inDb(
      'core.db',
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${many})
       INSERT INTO principal SELECT 'zz' || i, 'many-' || i, 'Many ' || i, 'active', 0, '', 1, 1 FROM n;
       INSERT INTO identifier SELECT 'zi' || id, id, 'messenger', 'number-' || id FROM principal WHERE id LIKE 'zz%';
       INSERT INTO trust_grant (id, principal_id, role_id) SELECT 'zg' || p.id, p.id, r.id FROM principal p, role r
         WHERE p.id LIKE 'zz%' AND r.name = 'known';`,
    );
    try {
      await open('/people');
      const table = page.getByRole('table', { name: 'People' });
      await page.getByText(/^2,5\d\d people$/).waitFor();
      expect(await table.getByRole('row').count()).toBe(101);
      await page.getByText(/^2,4\d\d more: find them by a word\.$/).waitFor();
      const field = page.getByLabel('Name, number or role');
      await field.fill('number-zz2499');
      await page.getByText(/^1 of 2,5\d\d people$/).waitFor();
      expect(await table.getByRole('row').count()).toBe(2);
      await page.reload();
      await button('Many 2499 (many-2499)').click();
      await page.getByRole('dialog').getByText('number-zz2499').first().waitFor();
      await page.keyboard.press('Escape');
      await field.fill('nobody at all');
      await page.getByText('No person matches').waitFor();
      await button('Show all').click();
      await button('known').click();
      await page.getByLabel('Tier').selectOption('TRUSTED');
      await page.getByText(/^For 2,500 people: .* and others$/).waitFor();
      await button('Cancel').click();
      expect(faults).toEqual([]);
    } finally {
      inDb(
        'core.db',
        "DELETE FROM trust_grant WHERE id LIKE 'zg%'; DELETE FROM identifier WHERE id LIKE 'zi%'; DELETE FROM principal WHERE id LIKE 'zz%'",
      );
      await page.goto('about:blank'); // it has them still
    }
  });

  test('a stranger let in for a day, in three clicks, is refused once the day is over', async () => {
    await say('100');
    await open('/people');
    await button('Let in for a day').click();
    await page.getByRole('dialog').getByLabel('Name').fill('Dora');
    expect(await page.getByLabel('How long').inputValue()).toBe('24');
    expect(await violationsInAllLooks(page, 'let-in')).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Let in' }).click();
    await button('Dora (dora)').waitFor();
    const [grant] = (await person('dora')).grants;
    expect((grant?.expires_at ?? 0) - Date.now()).toBeGreaterThan(86_000_000);
    expect(await outcome('100')).toBe('replied');

    inDb('core.db', `UPDATE trust_grant SET expires_at = 1 WHERE id = '${grant?.id}'`);
    await openPerson('Dora');
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Dora D.');
    await button('Save facts').click();
    await expect.poll(() => outcome('100')).toBe('denied');
    expect(faults).toEqual([]);
  });

  test('the reason of a refusal is at most three clicks from Home, from Activity and from the person', async () => {
    await open('/');
    await page.getByText(/^Dora D\. on messenger/).waitFor();
    await page.getByRole('link', { name: 'Why was 100 refused?' }).first().click();
    await page.getByText('refused', { exact: true }).waitFor();
    await page
      .getByText(/ended|over|expired/i)
      .first()
      .waitFor();

    await button('Change what Dora D. may do').click();
    await part('Roles').getByLabel('Role').waitFor();

    await open('/activity');
    await page.getByRole('link', { name: 'Why was 100 refused?' }).first().click();
    await page.getByText('refused', { exact: true }).waitFor();

    await openPerson('Dora D.');
    await button('Explain messenger 100').click();
    await page.getByRole('dialog').getByText('refused', { exact: true }).waitFor();
    expect(await violationsInAllLooks(page, 'person')).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('extends an expired role, gives one for a single conversation, and revokes it', async () => {
    await openPerson('Dora D.');
    await part('Roles').getByText('It has expired').waitFor();
    await button('Change when guest ends').click();
    await part('Roles').getByLabel('New end').selectOption('168');
    await button('Save end').click();
    await expect.poll(() => outcome('100')).toBe('replied');

    await part('Roles').getByLabel('Role').selectOption('known');
    await part('Roles').getByLabel('Where').selectOption('in one conversation');
    expect(await button('Give role').isDisabled()).toBe(true);
    await part('Roles').getByLabel('Conversation').fill('messenger:m:group:7');
    await button('Give role').click();
    await part('Roles').getByText('known on messenger:m:group:7').waitFor();
    const tierIn = async (key: string) =>
      (
        await dashboard.house.post<ExplainedIdentity>(core('/trust/resolve'), {
          channel: 'messenger',
          sender: { raw_id: '100' },
          conversation_key: key,
        })
      ).body.trust_tier;
    expect([await tierIn('messenger:m:group:7'), await tierIn('messenger:m:user:100')]).toEqual(['KNOWN', 'GUEST']);
    await button('Revoke known').click();
    await expect.poll(() => tierIn('messenger:m:group:7')).toBe('GUEST');
    expect(faults).toEqual([]);
  });

  test('asks for the second factor to give a high role, but not for a low one', async () => {
    inDb('login.db', 'UPDATE login_session SET proven_at = proven_at - 11 * 60000');
    await openPerson('Dora D.');
    await part('Roles').getByLabel('Role').selectOption('known');
    await button('Give role').click();
    await expect.poll(async () => (await judged('100')).trust_tier).toBe('KNOWN');
    await part('Roles').getByLabel('Role').selectOption('trusted');
    await part('Roles').getByLabel('How long').selectOption('1');
    await button('Give role').click();
    await page.getByRole('heading', { name: 'Is it you?' }).waitFor();
    expect((await judged('100')).trust_tier).toBe('KNOWN');
    await page.getByLabel('Code').fill(account.recoveryCodes[0] ?? '');
    await button('Go on').click();
    await expect.poll(async () => (await judged('100')).trust_tier).toBe('TRUSTED');
    await button('Revoke trusted').click();
    await expect.poll(async () => (await judged('100')).trust_tier).toBe('KNOWN');
    expect(faults).toEqual([]);
  });

  test('links a name by hand, moves it to another person in one step, and unlinks it', async () => {
    await dashboard.house.post(core('/trust/principals'), { key: 'emil', display_name: 'Emil' });
    await openPerson('Dora D.');
    await part('Known by').getByLabel('Channel').fill('email');
    await part('Known by').getByLabel('Name or number there').fill('Dora@Example.org');
    await button('Link').click();
    await button('Unlink email dora@example.org').waitFor();
    expect(await judged('DORA@example.org', 'email')).toMatchObject({ denied: false, display_name: 'Dora D.' });
    await button('Move email dora@example.org').click();
    await page.getByLabel('To whom').selectOption('Emil (emil)');
    await button('Move name').click();
    await expect.poll(async () => (await judged('dora@example.org', 'email')).display_name).toBe('Emil');
    await openPerson('Emil');
    await button('Unlink email dora@example.org').click();
    await expect.poll(async () => (await judged('dora@example.org', 'email')).denial).toBe('unknown_sender');
    expect(faults).toEqual([]);
  });

  test('sets notes and the moderation bypass of a person, disables them and lets them in again', async () => {
    await openPerson('Dora D.');
    await page.getByLabel('Notes').fill('from the choir');
    await page.getByLabel(/passes moderation/).check();
    await button('Save facts').click();
    await expect.poll(() => person('dora')).toMatchObject({ notes: 'from the choir', bypass_moderation: true });
    await button('Disable person').click();
    await expect.poll(() => outcome('100')).toBe('denied');
    await page.getByText('disabled: everything is refused').waitFor();
    await button('Let in again').click();
    await expect.poll(() => outcome('100')).toBe('replied');
    expect(faults).toEqual([]);
  });

  test('makes a role, shows beforehand whom a change affects, and deletes it once nobody has it', async () => {
    await open('/people');
    await button('Add role').click();
    await page.getByLabel('Name', { exact: true }).fill('choir');
    await page.getByLabel('Tier').selectOption('GUEST');
    await page.getByLabel('Channels').fill('messenger');
    await page.getByText('A person with it is guest, may only talk').waitFor();
    await button('Save role').click();
    await button('choir').waitFor();
    expect((await roles()).find(({ name }) => name === 'choir')).toMatchObject({ tier: 'GUEST', surfaces: ['messenger'] });
    await dashboard.house.post(core('/trust/principals/dora/grants'), { role_id: 'choir' });
    await open('/people');
    await button('choir').click();
    await page.getByLabel('Tier').selectOption('BLOCKED');
    const effect = page.getByRole('status', { name: 'Effect' });
    await effect.getByText('For 1 person: Dora D.').waitFor();
    await effect.getByText('They are refused, whatever else they were given.').waitFor();
    expect(await button('Delete role').isDisabled()).toBe(true);
    expect(await violationsInAllLooks(page, 'role')).toEqual([]);
    expect(await outcome('100')).toBe('replied');
    await button('Save role').click();
    await expect.poll(() => outcome('100')).toBe('denied');
    await openPerson('Dora D.');
    await button('Revoke choir').click();
    await expect.poll(() => outcome('100')).toBe('replied');
    await open('/people');
    await button('choir').click();
    await button('Delete role').click();
    await expect.poll(async () => (await roles()).map(({ name }) => name)).not.toContain('choir');
    expect(faults).toEqual([]);
  });

  test('sessions and events name the person, not the key, and sessions are found by the name', async () => {
    await open('/sessions?text=dora+d.');
    await page.getByRole('cell', { name: 'Dora D.', exact: true }).waitFor();
    await open('/activity');
    await page
      .getByText(/ · Dora D\.$/)
      .first()
      .waitFor();
    expect(faults).toEqual([]);
  });

  test('shows what erasing a person removes and keeps, then erases them; the last owner cannot be erased', async () => {
    await openPerson('Dora D.');
    await button('Erase person').click();
    await part('What is removed').getByText('1 conversation,').waitFor();
    await part('What stays').getByText('Backups').waitFor();
    expect(await button('Erase for good').isDisabled()).toBe(true);
    expect(await violationsInAllLooks(page, 'erase')).toEqual([]);
    await page.getByLabel('Type dora to erase them for good').fill('dora');
    await button('Erase for good').click();
    await expect.poll(async () => (await judged('100')).denial).toBe('unknown_sender');
    await expect.poll(async () => (await fetch(core('/trust/principals/dora'))).status).toBe(404);
    expect((await fetch(core(`/v2/session/${encodeURIComponent('messenger:m:user:100')}`))).status).toBe(404);
    await openPerson((await person('owner')).display_name);
    expect(await button('Erase person').isDisabled()).toBe(true);
    await page.getByText('The last owner stays the owner').first().waitFor();
    expect(faults).toEqual([]);
  });
});
