import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Instance } from '@svc/contract/instance.ts';
import type { TrustChange } from '@svc/contract/trust.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openScreen } from './dashboard/go.ts';
import { openLook } from './dashboard/look.ts';
import { type Account, ageProof, type Dashboard, openDashboard, signUp } from './dashboard/open-dashboard.ts';
import { openSealedVault, type SealedVault, writeShed } from './dashboard/open-sealed-vault.ts';
import { openBrowser, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();
const passphrase = 'daffodils in the moonlight';
const nextPassphrase = 'snowdrops by the wall';
const canary = 'tulips under the oak';

/** Secrets, the vault and API keys as the operator has them in the browser, with a real vault that begins sealed. */
describe.skipIf(why !== null)(`secrets in the dashboard${skipNote(why)}`, () => {
  let data: TemporaryFolder;
  let vault: SealedVault;
  let dashboard: Dashboard;
  let browser: Browser;
  let page: Page;
  let account: Account;
  let faults: string[];
  /** Every body that the page got from the service. */
  const bodies: string[] = [];

  beforeAll(async () => {
    browser = await openBrowser([], 'dashboard');
    data = temporaryFolder();
    writeShed(data.path);
    vault = await openSealedVault(passphrase, canary);
    dashboard = await openDashboard(vault.env, data.path);
    await dashboard.house.post(`${dashboard.house.urls.manager}/instances`, {
      type: 'shed',
      name: 'Shed',
      enabled: true,
      config: { door: 'SHED_DOOR' },
    });
    page = await browser.newPage({ serviceWorkers: 'block' });
    faults = watch(page);
    page.on('response', (response) => {
      if (response.url().includes('/core/'))
        void response.text().then(
          (text) => bodies.push(text),
          () => undefined,
        );
    });
    account = await signUp(page, dashboard);
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.house.stop();
    await vault?.close();
    data?.remove();
  });

  const open = (section: string) => openScreen(page, dashboard, `/settings/${section}`);
  const row = (name: string) => page.locator('.view li').filter({ has: page.getByText(name, { exact: true }) });
  const dialog = () => page.getByRole('dialog');
  const statusOf = async (id: string) =>
    (await dashboard.house.get<{ instances: Instance[] }>(`${dashboard.house.urls.manager}/instances`)).instances.find(
      (instance) => instance.id === id,
    )?.status;
  const changes = async () =>
    (await dashboard.house.get<{ audit: TrustChange[] }>(`${dashboard.house.urls.core}/trust/audit`)).audit;
  let codes = 0;
  const prove = async () => {
    await page.getByRole('heading', { name: 'Is it you?' }).waitFor();
    await page.getByLabel('Code').fill(account.recoveryCodes[codes++] ?? '');
    await page.getByRole('button', { name: 'Go on' }).click();
  };
  /** The output and the logs of the service, which must hold no secret. */
  const written = () => {
    const logs = path.join(dashboard.house.folder, 'logs');
    return (
      readdirSync(logs)
        .map((file) => readFileSync(path.join(logs, file), 'utf8'))
        .join('\n') + dashboard.house.output()
    );
  };

  test('a sealed vault lists what waits for it; unsealing takes a second factor and starts what waited', async () => {
    await expect.poll(() => statusOf('shed')).toBe('waiting');
    await open('vault');
    await page.getByText('sealed', { exact: true }).waitFor();
    await row('Shed').getByText('may be in the vault').waitFor();
    const { show, look, found, close } = await openLook(page, dashboard);
    await show('/settings/vault', '.view .rows-list > li');
    await look('vault-sealed');
    await close();
    expect(found).toEqual([]);
    ageProof(dashboard);
    const field = page.getByLabel('Passphrase of the vault');
    await field.fill('roses at the gate');
    await field.press('Enter');
    await prove();
    await page.locator('.field-words .fault').waitFor();
    expect(await field.inputValue()).toBe('');
    // After a wrong passphrase the next one is refused for a while.
    const answerTo = async (text: string): Promise<number> => {
      await field.fill(text);
      const answer = page.waitForResponse((response) => response.url().endsWith('/unseal'));
      await field.press('Enter');
      return (await answer).status();
    };
    await expect.poll(() => answerTo(passphrase), { timeout: 60_000, interval: 1000 }).toBe(200);
    await page.getByText('open', { exact: true }).waitFor();
    await expect.poll(() => statusOf('shed'), { timeout: 20_000 }).toBe('running');
    const told = (await changes()).filter(({ what }) => what.startsWith('vault_')).map(({ what, actor }) => [what, actor]);
    expect(told.at(-1)).toEqual(['vault_unseal_refused', account.name]);
    expect(told[0]).toEqual(['vault_unsealed', account.name]);
    expect(faults).toEqual([]);
  });

  test('adds, replaces and deletes a secret, and names its users before deleting it', async () => {
    ageProof(dashboard);
    await open('secrets');
    await prove();
    await row('SHED_DOOR').getByText('in the vault').waitFor();
    await row('SHED_DOOR').getByText('Used by Shed (channel)').waitFor();
    await page.getByRole('button', { name: 'Add secret' }).click();
    await dialog().getByLabel('Name').fill('no name');
    await dialog().getByText('Use up to 128').waitFor();
    await dialog().getByLabel('Name').fill('GARDEN_KEY');
    await dialog().getByLabel('Value').fill(canary);
    await dialog().getByLabel('Minimum trust').selectOption('KNOWN');
    await dialog().getByRole('button', { name: 'Keep secret' }).click();
    await row('GARDEN_KEY').getByText('for known and above').waitFor();
    await page.getByRole('button', { name: 'Replace value of GARDEN_KEY' }).click();
    await dialog().getByLabel('Show several lines').check();
    await dialog().getByLabel('Value').fill(`${canary}\nand more`);
    await dialog().getByRole('button', { name: 'Keep secret' }).click();
    await dialog().waitFor({ state: 'detached' });
    const { credentials } = (await vault.ask('GET /v1/credentials')) as { credentials: { name: string }[] };
    expect(credentials.find(({ name }) => name === 'GARDEN_KEY')).toMatchObject({ version: 2, min_trust: 'KNOWN' });
    const button = page.getByRole('button', { name: 'Delete secret SHED_DOOR' });
    await button.click();
    await dialog().getByText('Shed (channel) uses it').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Delete secret SHED_DOOR');
    await page.getByRole('button', { name: 'Delete secret GARDEN_KEY' }).click();
    await dialog().getByText('Nothing is known to use it.').waitFor();
    await dialog().getByRole('button', { name: 'Delete secret' }).click();
    await row('GARDEN_KEY').waitFor({ state: 'detached' });
    expect((await changes()).slice(0, 3).map(({ what, actor }) => [what, actor])).toEqual([
      ['secret_removed', account.name],
      ['secret_set', account.name],
      ['secret_set', account.name],
    ]);
    await openScreen(page, dashboard, '/activity?tab=audit');
    await page.getByRole('row', { name: /secret removed.*Anna.*GARDEN_KEY.*it was name: GARDEN_KEY/ }).waitFor();
    // On a phone every field of a change is visible, however long one of them is.
    const width = page.viewportSize();
    await page.setViewportSize({ width: 390, height: 844 });
    const hidden = "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.table-frame'))";
    expect(await page.evaluate<number>(hidden)).toBeLessThanOrEqual(0);
    if (width !== null) await page.setViewportSize(width);
    await openScreen(page, dashboard, '/activity');
    await page.locator('.events li', { hasText: 'secret_removed, actor: Anna' }).getByText('GARDEN_KEY').waitFor();
    expect(faults).toEqual([]);
  });

  test('an API key is shown once and works until it is revoked', async () => {
    const say = (token: string, base: string) =>
      requestJson<{ choices?: { message: { content: string } }[] }>(`${base}/chat/completions`, {
        token: new Secret(token),
        body: { model: 'svc', messages: [{ role: 'user', content: 'echo daisies' }] },
        timeoutMs: 40_000,
      });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: dashboard.url });
    await open('keys');
    await row('owner').getByText('No use recorded.').waitFor();
    await page.getByRole('button', { name: 'Make key' }).click();
    await dialog().getByLabel('Name').fill('laptop');
    await dialog().getByLabel('Budget for a month').fill('many');
    await dialog().getByText('It is a number').waitFor();
    await dialog().getByLabel('Budget for a month').fill('5');
    await dialog().getByRole('button', { name: 'Make key' }).click();
    await dialog().getByRole('heading', { name: 'The key laptop' }).waitFor();
    await dialog().getByRole('button', { name: 'Copy key' }).click();
    await page.getByText('Copied.').waitFor();
    const key = await page.evaluate<string>('navigator.clipboard.readText()');
    const base = (await dialog().getByLabel('Base URL').textContent()) ?? '';
    expect(key).toMatch(/^sk-svc-[\w-]{43}$/);
    expect(await dialog().getByLabel('Example').textContent()).toContain(`Bearer ${key}`);
    const answer = await say(key, base);
    expect([answer.status, answer.body.choices?.[0]?.message.content]).toEqual([200, 'daisies']);
    await dialog().getByRole('button', { name: 'I have stored it' }).click();
    await row('laptop').getByText('acts for owner').waitFor();
    await row('laptop')
      .getByText(`ends in ${key.slice(-4)} · $0.00 of $5.00 this month`)
      .waitFor();
    // Events reach the collector a moment after the turn.
    await expect
      .poll(
        async () => {
          await page.reload();
          return row('laptop')
            .getByText(/known\.|Last used/)
            .textContent();
        },
        { timeout: 20_000 },
      )
      .toMatch(/^Last used .+\.$/);
    expect(await page.content()).not.toContain(key);
    expect(bodies.filter((body) => body.includes(key))).toHaveLength(1);
    await page.getByRole('button', { name: 'Revoke key laptop' }).click();
    await dialog().getByText('which act for owner').waitFor();
    await dialog().getByRole('button', { name: 'Revoke key' }).click();
    await row('laptop').waitFor({ state: 'detached' });
    expect((await say(key, base)).status).toBe(401);
    const told = (await changes()).filter(({ what }) => what.startsWith('key_')).map(({ what, actor }) => [what, actor]);
    expect(told).toEqual([
      ['key_revoked', account.name],
      ['key_created', account.name],
    ]);
    expect(JSON.stringify(await changes()) + written()).not.toContain(key);
    expect(faults).toEqual([]);
  });

  test('the key of a vault reader is shown once and works until the reader is removed', async () => {
    const asks = async (token: string) =>
      (
        await requestJson(`${vault.env['SVC_VAULT_URL']}/v1/tokens`, {
          token: new Secret(token),
          body: { name: 'SHED_DOOR' },
          timeoutMs: 10_000,
        })
      ).status;
    const openReaders = async () => {
      await page.locator('summary').filter({ hasText: 'Readers' }).press('Enter');
      await row('assistant').getByText('the service itself').waitFor();
    };
    await open('vault');
    await openReaders();
    expect(await row('assistant').getByRole('button').count()).toBe(0);
    await page.getByRole('button', { name: 'Add reader' }).press('Enter');
    await dialog().getByLabel('Name').fill('No name');
    await dialog().getByText('Use up to 64').waitFor();
    await dialog().getByLabel('Name').fill('greenhouse');
    await dialog().getByLabel('Trust').selectOption('trusted: all but those for the owner only');
    ageProof(dashboard);
    await dialog().getByLabel('Trust').press('Tab');
    await page.keyboard.press('Enter');
    await prove();
    await dialog().getByRole('heading', { name: 'The key of greenhouse' }).waitFor();
    await dialog().getByRole('button', { name: 'Copy key' }).click();
    await page.getByText('Copied.').waitFor();
    const key = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(key).toMatch(/^vagent_[\w-]{43}$/);
    expect(await dialog().getByLabel('What to set').textContent()).toBe(
      `SVC_VAULT_URL=${vault.env['SVC_VAULT_URL']}\nSVC_VAULT_AGENT_KEY=${key}`,
    );
    expect(await asks(key)).toBe(200);
    await dialog().getByRole('button', { name: 'I have stored it' }).click();
    await row('greenhouse').getByText('may ask').waitFor();
    expect(await page.content()).not.toContain(key);
    await page.reload();
    await openReaders();
    await row('greenhouse').getByText('all but those for the owner only').waitFor();
    expect(await page.content()).not.toContain(key);
    expect(bodies.filter((body) => body.includes(key))).toHaveLength(1);
    await page.getByRole('button', { name: 'Remove reader greenhouse' }).click();
    await dialog().getByText('with the key of greenhouse get no more secrets').waitFor();
    await dialog().getByRole('button', { name: 'Remove reader' }).click();
    await row('greenhouse').getByText('removed', { exact: true }).waitFor();
    expect(await asks(key)).toBe(401);
    expect((await changes()).slice(0, 2).map(({ what, actor }) => [what, actor])).toEqual([
      ['vault_agent_removed', account.name],
      ['vault_agent_added', account.name],
    ]);
    expect(JSON.stringify(await changes()) + written()).not.toContain(key);
    expect(faults).toEqual([]);
  });

  test('says that the service cannot be reached, and tries again by a button', async () => {
    await page.route('**/core/v2/keys', (route) => route.abort());
    await open('keys');
    // The message stays while the request is retried.
    await page.getByRole('alert').getByText('The service cannot be reached').waitFor({ timeout: 30_000 });
    await page.unroute('**/core/v2/keys');
    await page.getByRole('button', { name: 'Try again' }).click();
    await row('owner').waitFor();
  });

  test('axe finds no violation on these screens, in light and dark, narrow and wide, and nothing overflows', async () => {
    const { shown, show, look, found, close } = await openLook(page, dashboard);
    const dialogs = {
      secrets: ['Add secret', 'Delete secret SHED_DOOR'],
      vault: ['Seal vault', 'See who asked for what', 'Change the passphrase', 'Replace the root key'],
      keys: ['Revoke key owner', 'Make key'],
    };
    for (const [section, buttons] of Object.entries(dialogs)) {
      await show(`/settings/${section}`, '.view .state');
      await look(section);
      for (const name of buttons) {
        await shown.keyboard.press('Escape');
        await shown.getByRole('button', { name, exact: true }).click();
        await look(name.toLowerCase().replaceAll(' ', '-'));
      }
    }
    await shown.getByRole('dialog').getByLabel('Name').fill('looks');
    await shown.getByRole('dialog').getByRole('button', { name: 'Make key' }).click();
    await shown.getByRole('heading', { name: 'The key looks' }).waitFor();
    await look('new-key');
    await show('/settings/vault', '.view .state');
    await shown.locator('summary').filter({ hasText: 'Readers' }).click();
    await shown.getByText('the service itself', { exact: true }).waitFor();
    await look('readers');
    await shown.getByRole('button', { name: 'Add reader' }).click();
    await look('add-reader');
    await shown.getByRole('dialog').getByLabel('Name').fill('looks');
    await shown.getByRole('dialog').getByRole('button', { name: 'Add reader' }).click();
    await shown.getByRole('heading', { name: 'The key of looks' }).waitFor();
    await look('new-reader');
    await shown.keyboard.press('Escape');
    await shown.getByRole('button', { name: 'Remove reader looks' }).click();
    await look('remove-reader');
    await close();
    expect(found).toEqual([]);
  });

  test('changes the passphrase and the root key of the vault, and shows its access log', async () => {
    await open('vault');
    await page.getByRole('button', { name: 'Replace the root key' }).click();
    await dialog().getByRole('button', { name: 'Replace root key' }).click();
    await page.getByText('a new root key, number 2').waitFor();
    await page.getByRole('button', { name: 'Change the passphrase' }).click();
    await dialog().getByLabel('Current passphrase').fill(passphrase);
    await dialog().getByLabel('New passphrase').fill('too short');
    expect(await dialog().getByRole('button', { name: 'Change passphrase' }).isDisabled()).toBe(true);
    await dialog().getByLabel('New passphrase').fill(nextPassphrase);
    await dialog().getByRole('button', { name: 'Change passphrase' }).click();
    await dialog().waitFor({ state: 'detached', timeout: 60_000 });
    await page.getByRole('button', { name: 'See who asked for what' }).click();
    await dialog()
      .getByRole('row', { name: /redeem.*assistant.*SHED_DOOR/ })
      .first()
      .waitFor();
    await page.keyboard.press('Escape');
    expect((await changes()).slice(0, 2).map(({ what, actor }) => [what, actor])).toEqual([
      ['vault_passphrase_changed', account.name],
      ['vault_rotated', account.name],
    ]);
  });

  test('seals the vault by a button, after which secrets show that they wait for it', async () => {
    await open('vault');
    await page.getByRole('button', { name: 'Seal vault' }).click();
    await dialog().getByText('gives out nothing').waitFor();
    await dialog().getByRole('button', { name: 'Seal vault' }).click();
    await page.getByLabel('Passphrase of the vault').waitFor();
    expect(await vault.ask('GET /v1/status')).toMatchObject({ sealed: true });
    await open('secrets');
    await page.getByText('The vault could not list its secrets').waitFor();
    await row('SHED_DOOR').getByText('waits for the vault').waitFor();
    const { show, look, found, close } = await openLook(page, dashboard);
    await show('/settings/secrets', '.view .rows-list > li');
    await look('secrets-waiting');
    await close();
    expect(found).toEqual([]);
  });

  test('typed passphrases and secrets are in no answer, log, audit record or page', async () => {
    for (const typed of [passphrase, nextPassphrase, canary]) {
      expect(bodies.filter((body) => body.includes(typed))).toEqual([]);
      expect(written() + JSON.stringify(await changes()) + (await page.content())).not.toContain(typed);
    }
  });
});
