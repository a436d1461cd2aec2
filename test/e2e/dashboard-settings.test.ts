import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Announcement } from '@svc/contract/announcement.ts';
import type { PricingReport, SpendReport } from '@svc/contract/cost.ts';
import type { CheckoutList } from '@svc/contract/checkout.ts';
import type { EngineView } from '@svc/contract/engine.ts';
import type { FolderList } from '@svc/contract/folder.ts';
import type { PersonaList, PersonaView } from '@svc/contract/persona.ts';
import type { ToolServerDocument } from '@svc/contract/tool-server.ts';
import { type GitServer, startGitServer } from '@svc/testing/git-server.ts';
import { fakeCodex } from '@svc/testing/package-registry/start-package-registry.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { startHttpToolServer } from '@svc/testing/tool-server/start-http-tool-server.ts';
import { root } from '../repository.ts';
import { openScreen } from './dashboard/go.ts';
import type { Account, Dashboard } from './dashboard/open-dashboard.ts';
import { openSignedIn } from './dashboard/open-signed-in.ts';
import { pictures } from './dashboard/violations.ts';
import { whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();

/** What an operator sets in the browser, and its effect in the service. */
describe.skipIf(why !== null)(`settings in the dashboard${skipNote(why)}`, () => {
  let git: GitServer;
  let dashboard: Dashboard;
  let page: Page;
  let account: Account;
  let faults: string[];
  let close: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    git = await startGitServer();
    ({ dashboard, page, account, faults, close } = await openSignedIn({ SVC_CHECKOUT_HOSTS: `127.0.0.1:${git.port}` }));
  });
  afterAll(async () => {
    await close?.();
    await git?.close();
  });
  const open = (section: string) => openScreen(page, dashboard, `/settings/${section}`);
  const fromCore = <T>(route: string) => dashboard.house.get<T>(dashboard.house.urls.core + route);
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const inDialog = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });
  const picture = (name: string) => pictures(page, name);
  const row = (text: string) => page.locator('.rows-list > li').filter({ hasText: text });

  test('an unknown settings page says so and links to the others', async () => {
    await open('nothing-like-this');
    await page.getByText('These settings do not exist.').waitFor();
    await page.getByRole('link', { name: 'All settings' }).click();
    await page.getByRole('link', { name: 'Tools' }).click();
    await page.getByRole('heading', { name: 'Tools', exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/settings/tools');
    expect(faults).toEqual([]);
  });

  test('adds, tries, changes, disables and removes a tool server, and shows input errors at their field', async () => {
    const servers = async () => (await fromCore<ToolServerDocument>('/v2/mcp')).servers;
    await open('tools');
    await page.getByText("The assistant has only the service's own tools.").waitFor();
    await button('Add tool server').click();
    await inDialog('Add tool server').click();
    await page.getByText('This field is required.').first().waitFor();
    await page.getByLabel('Name').fill('No Good');
    await page.getByLabel('Program').fill(process.execPath);
    await page.getByLabel('Arguments').fill(path.join(root, 'packages/testing/src/tool-server/stdio-tool-server.ts'));
    await page.getByLabel('Environment').fill('GIVEN_WORD=hello\nnonsense');
    await inDialog('Add tool server').click();
    await page.getByText('“nonsense” is not of the form NAME=value.').waitFor();
    await page.getByLabel('Environment').fill('GIVEN_WORD=hello');
    await inDialog('Add tool server').click();
    await page.getByText('It must be 1 to 64 of').waitFor();
    await page.getByLabel('Name').fill('kit');
    await page.getByLabel('Also for callers who may only read').check();
    await inDialog('Add tool server').click();
    await row('kit').getByText('on, not tried yet').waitFor();
    expect((await servers())['kit']).toMatchObject({ type: 'stdio', command: process.execPath, safe: true, enabled: true });

    await button('Try kit').click();
    await row('kit').getByText('Says the text back.').waitFor();
    await row('kit')
      .getByText(/available (?:now|\d+ seconds? ago)/)
      .waitFor();

    await button('Change kit').click();
    await page.getByLabel('Environment').fill('');
    await page.getByLabel('Also for callers who may only read').uncheck();
    await page.getByLabel('Description').fill('what a person would say');
    await inDialog('Save tool server').click();
    await row('what a person would say').waitFor();
    expect((await servers())['kit']).toMatchObject({ safe: false, env: {} });

    await button('Add tool server').click();
    await page.getByLabel('Name').fill('kit');
    await page.getByLabel('Program').fill('/bin/false');
    await inDialog('Add tool server').click();
    await page.getByText('A tool server kit already exists.').waitFor();
    await inDialog('Cancel').click();
    expect((await servers())['kit']).toMatchObject({ command: process.execPath });

    await button('Switch kit off').click();
    await button('Switch kit on').waitFor();
    expect((await servers())['kit']?.enabled).toBe(false);
    await button('Remove kit').click();
    await inDialog('Remove tool server').click();
    await expect.poll(async () => Object.keys(await servers())).not.toContain('kit');
    expect(await button('Remove svc-toolbelt').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('imports tool servers from a file of another program, and says why one is not available', async () => {
    const remote = await startHttpToolServer();
    await open('tools');
    await button('Import').click();
    await page.getByLabel('What is in it').fill('no JSON');
    await inDialog('Import tool servers').click();
    await page.getByText('This is not a JSON object.').waitFor();
    const document = {
      mcpServers: {
        Hub: { url: remote.url, headers: { Authorization: 'Bearer ${env:TOKEN_OF_HUB}' } },
        gone: { command: 'no-such-program-here' },
        old: { type: 'sse', url: 'http://127.0.0.1:1/sse' },
      },
    };
    await page
      .getByLabel('File')
      .setInputFiles({ name: 'mcp.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(document)) });
    await expect.poll(() => page.getByLabel('What is in it').inputValue()).toContain('mcpServers');
    await inDialog('Import tool servers').click();
    await page.getByRole('dialog').getByText('is left out').waitFor();
    await inDialog('Close').last().click();
    await button('Try gone').click();
    await row('gone').getByText('not available', { exact: true }).waitFor();
    await row('gone').locator('.fault').first().waitFor();
    const { servers } = await fromCore<ToolServerDocument>('/v2/mcp');
    expect(servers['hub']).toMatchObject({ headers: { Authorization: 'Bearer ${secret:TOKEN_OF_HUB}' } });
    await remote.close();
    expect(faults).toEqual([]);
  });

  test('posts a note for one person and takes it back; a note without a recipient is not posted', async () => {
    const notes = async () => (await fromCore<{ announcements: Announcement[] }>('/v2/announcements')).announcements;
    await open('announcements');
    await page.getByText('No note is live.').waitFor();
    await button('Post a note').click();
    await page.getByRole('textbox', { name: 'Note' }).fill('The printer is out of paper.');
    await page.getByLabel('For', { exact: true }).selectOption('One session');
    await page.getByText('There is none.').waitFor();
    await inDialog('Post note').click();
    await page.getByText('Choose whom the note is for.').waitFor();
    expect(await notes()).toEqual([]);
    await page.getByLabel('For', { exact: true }).selectOption('A person');
    await page.getByLabel('Which one').selectOption('identity:owner');
    await page.getByLabel('Priority').selectOption('urgent');
    await page.getByLabel('Ends').selectOption('In an hour');
    await inDialog('Post note').click();
    await row('The printer is out of paper.').getByText('urgent').waitFor();
    const [note] = await notes();
    expect(note).toMatchObject({ target: 'identity:owner', priority: 'urgent', text: 'The printer is out of paper.' });
    expect((note?.expires_at ?? 0) - (note?.created_at ?? 0)).toBe(3_600_000);
    await button('Take note back').click();
    await page.getByText('No note is live.').waitFor();
    expect(await notes()).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('edits the persona without overwriting a concurrent change, and removes another once no channel uses it', async () => {
    const file = path.join(dashboard.house.folder, 'persona.md');
    const persona = () => fromCore<PersonaView>('/v2/persona');
    await open('persona');
    await page.getByText('Built in: you have added nothing to it.').waitFor();
    await button('Edit persona').click();
    await page.getByLabel('Words of your own').fill('Speak like a pirate.');
    await inDialog('Save persona').click();
    await page.getByText('Built in, followed by your own text.').waitFor();
    expect(await persona()).toMatchObject({ source: 'extended', own: 'Speak like a pirate.' });
    expect((await persona()).text).toMatch(/Speak like a pirate\.$/);

    await button('Edit persona').click();
    writeFileSync(file, 'Be brief.');
    await page.getByLabel('Words of your own').fill('You are a parrot.');
    await page.getByLabel('In place of the built-in persona').check();
    await inDialog('Save persona').click();
    await page.getByText('This persona has been changed in the meantime.').waitFor();
    expect(readFileSync(file, 'utf8')).toBe('Be brief.');
    await page.keyboard.press('Escape');
    await page.reload();
    await button('Edit persona').click();
    expect(await page.getByLabel('Words of your own').inputValue()).toBe('Be brief.');
    await page.getByLabel('Words of your own').fill('You are a parrot.');
    await page.getByLabel('In place of the built-in persona').check();
    await inDialog('Save persona').click();
    await page.getByText('Yours, in place of the built-in one.').waitFor();
    expect((await persona()).text).toBe('You are a parrot.');
    await page.getByLabel('Engine').selectOption('offline');
    await page.getByRole('region', { name: 'The persona in offline' }).getByText('You are a parrot.').waitFor();

    await button('Add persona').click();
    await page.getByLabel('Name').fill('butler');
    await page.getByLabel('Words of your own').fill('Very well.');
    await inDialog('Save persona').click();
    await row('butler').getByText('No channel uses it.').waitFor();
    const use = async (rules: object) => {
      writeFileSync(path.join(dashboard.house.folder, 'instance-rules.json'), JSON.stringify(rules));
      await dashboard.house.post(`${dashboard.house.urls.core}/v2/instances/reload`, {});
    };
    await use({ messenger: { persona: 'butler' } });
    await button('Remove butler').click();
    await inDialog('Remove persona').click();
    await page.getByText('The persona "butler" is used by messenger.').waitFor();
    expect((await fromCore<PersonaList>('/v2/personas')).personas).toEqual([{ name: 'butler', used_by: ['messenger'] }]);
    await page.keyboard.press('Escape');
    await use({});
    await button('Remove butler').click();
    await inDialog('Remove persona').click();
    await row('butler').waitFor({ state: 'detached' });
    expect((await fromCore<PersonaList>('/v2/personas')).personas).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('sets, lowers and removes a budget and a price; only raising a budget asks for the second factor', async () => {
    const budgets = async () => (await fromCore<SpendReport>('/v2/spend')).budgets;
    await open('limits');
    await page.getByText('SVC_SPEND_PRINCIPAL_HARD_USD').waitFor();
    await page.getByLabel('Find a model').fill('gpt-5-mini');
    await page.getByRole('rowheader', { name: 'gpt-5-mini', exact: true }).waitFor();
    await button('Set price').click();
    await page.getByRole('textbox', { name: 'Model' }).fill('qwen3');
    await page.getByLabel('Input', { exact: true }).fill('0.1');
    await page.getByLabel('Output', { exact: true }).fill('0.4');
    await inDialog('Set price').click();
    await button('Remove your price of qwen3').waitFor();
    expect((await fromCore<PricingReport>('/v2/pricing')).models['qwen3']).toEqual({ in: 0.1, out: 0.4 });
    await button('Remove your price of qwen3').click();
    await button('Remove your price of qwen3').waitFor({ state: 'detached' });
    expect((await fromCore<PricingReport>('/v2/pricing')).models['qwen3']).toBeUndefined();
    await button('Set budget').first().click();
    await page.getByLabel('Channel').fill('compat');
    await page.getByLabel('Sender').fill('laptop');
    await page.getByLabel('USD a month').fill('much');
    await inDialog('Set budget').click();
    await page.getByText('“much” is not a number.').waitFor();
    await page.getByLabel('USD a month').fill('20.5');
    const db = new DatabaseSync(path.join(dashboard.house.folder, 'login.db'), { timeout: 10_000 });
    db.exec('UPDATE login_session SET proven_at = proven_at - 11 * 60000');
    db.close();
    await inDialog('Set budget').click();
    await row('laptop').getByText('of $20.50').waitFor();
    expect(await budgets()).toMatchObject([{ surface: 'compat', value: 'laptop', month_usd: 20.5 }]);
    const change = async (usd: string) => {
      await button('Change budget of laptop').click();
      await page.getByLabel('USD a month').fill(usd);
      await inDialog('Set budget').click();
    };
    await change('5');
    await row('laptop').getByText('of $5.00').waitFor();
    await change('6');
    await page.getByRole('heading', { name: 'Is it you?' }).waitFor();
    expect(await budgets()).toMatchObject([{ month_usd: 5 }]);
    await page.getByLabel('Code').fill(account.recoveryCodes[0] ?? '');
    await button('Go on').click();
    await row('laptop').getByText('of $6.00').waitFor();
    await button('Remove budget of laptop').click();
    await row('laptop').waitFor({ state: 'detached' });
    expect(await budgets()).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('sets and clears a folder for a tier, refuses one that does not exist, and trusts a folder', async () => {
    const folders = () => fromCore<FolderList>('/v2/folders');
    const own = temporaryFolder();
    onTestFinished(own.remove);
    const folder = realpathSync(own.path);
    await open('folders');
    await button('Set a folder').click();
    await page.getByLabel('Folder', { exact: true }).fill('/no/such/folder');
    await page.getByLabel('For', { exact: true }).selectOption('Turns of people who are trusted');
    await inDialog('Set folder').click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    expect((await folders()).folders).toEqual([]);
    await page.getByLabel('Folder', { exact: true }).fill(folder);
    await inDialog('Set folder').click();
    await row('Turns of people who are trusted').getByText(folder).waitFor();
    expect((await folders()).folders).toMatchObject([{ scope: 'tier', name: 'TRUSTED', path: folder }]);
    await button('Clear folder').click();
    await row('Turns of people who are trusted').waitFor({ state: 'detached' });
    await button('Trust a folder').click();
    await page.getByLabel('Folder', { exact: true }).fill(folder);
    await inDialog('Trust folder').click();
    await row(folder).waitFor();
    expect((await folders()).trusted.map(({ path: of }) => of)).toEqual([folder]);
    await button('Stop trusting it').click();
    await row(folder).waitFor({ state: 'detached' });
    expect(await folders()).toEqual({ folders: [], trusted: [] });
    expect(faults).toEqual([]);
  });

  test('copies and removes a repository, and shows in the form why a copy failed', async () => {
    const repository = git.repository('of-mine');
    writeFileSync(path.join(repository.folder, 'a.txt'), 'one');
    const sha = repository.commit();
    const listed = async () => (await fromCore<CheckoutList>('/v2/checkouts')).checkouts;
    await open('folders');
    await button('Copy a repository').click();
    await page.getByLabel('Address of the repository').fill(repository.url);
    await page.getByLabel('Branch, tag or commit').fill('no-such-branch');
    await inDialog('Copy repository').click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await picture('new-checkout');
    await page.getByLabel('Branch, tag or commit').fill('');
    await inDialog('Copy repository').click();
    await row(repository.url).getByText(sha.slice(0, 12)).waitFor();
    expect(await listed()).toMatchObject([{ url: repository.url, sha, credential: null }]);
    await button('Remove copy').click();
    await row(repository.url).waitFor({ state: 'detached' });
    expect(await listed()).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('rolls an engine back to the previous version after a confirmation, and offers the newer one again', async () => {
    const place = path.join(dashboard.house.folder, 'engines/codex');
    for (const version of ['1.0.0', '2.0.0'])
      for (const [name, { text }] of Object.entries(fakeCodex(version))) {
        const file = path.join(place, version, name);
        mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
        writeFileSync(file, text, { mode: 0o700 });
      }
    symlinkSync('2.0.0', path.join(place, 'current'));
    await dashboard.house.post(`${dashboard.house.urls.core}/v2/engines/codex/refresh`);
    const version = async () =>
      (await fromCore<{ engines: EngineView[] }>('/v2/engines')).engines.find(({ id }) => id === 'codex')?.version;
    expect(await version()).toBe('2.0.0');
    await open('engines');
    await row('codex').getByRole('button', { name: 'Go back to 1.0.0' }).click();
    await picture('engine-rollback');
    await inDialog('Go back').click();
    await page.getByText('codex is back at 1.0.0.').waitFor();
    expect(await version()).toBe('1.0.0');
    await row('codex').getByRole('button', { name: 'Go back to 2.0.0' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('removes the key of an engine after a confirmation, and says why a choice set in the environment stays', async () => {
    const hasKey = async () =>
      (await fromCore<{ engines: EngineView[] }>('/v2/engines')).engines.find(({ id }) => id === 'gemini')?.key_present;
    await open('engines');
    await row('gemini').getByRole('button', { name: 'Set key' }).click();
    await page.getByLabel('Key', { exact: true }).fill('a-key-of-a-model');
    await inDialog('Keep key').click();
    await row('gemini').getByRole('button', { name: 'Remove key' }).click();
    expect(await hasKey()).toBe(true);
    await picture('engine-key');
    await inDialog('Remove key').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await row('gemini').getByRole('button', { name: 'Remove key' }).waitFor({ state: 'detached' });
    expect(await hasKey()).toBe(false);
    await button('Leave the choice to the service').click();
    await page.getByText('SVC_DEFAULT_ENGINE is set to offline').waitFor();
    expect(faults).toEqual([]);
  });

  test('sets the update channel on the version page', async () => {
    const channel = async () => (await fromCore<{ channel: string }>('/v2/update/channel')).channel;
    await open('version');
    const choice = page.getByLabel('Update channel');
    expect(await choice.inputValue()).toBe('stable');
    await choice.selectOption('edge');
    await expect.poll(channel).toBe('edge');
    await page.getByText('Install new versions of “edge” without being asked').waitFor();
    await picture('update-channel');
    await choice.selectOption('stable');
    await expect.poll(channel).toBe('stable');
    expect(faults).toEqual([]);
  });

  test('sets and clears the model of an engine, and downloads a backup', async () => {
    const gemini = async () =>
      (await fromCore<{ engines: EngineView[] }>('/v2/engines')).engines.find(({ id }) => id === 'gemini');
    await open('engines');
    await button('Change gemini').click();
    await page.getByLabel('Model').fill('no model');
    await inDialog('Save gemini').click();
    await page.getByRole('dialog').locator('.field-words').getByText('It takes up to 200').waitFor();
    await page.getByLabel('Model').fill('gemini-of-mine');
    await inDialog('Save gemini').click();
    await expect.poll(async () => (await gemini())?.model).toBe('gemini-of-mine');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await button('Change gemini').click();
    expect(await page.getByLabel('Model').inputValue()).toBe('gemini-of-mine');
    await page.getByLabel('Model').fill('');
    await inDialog('Save gemini').click();
    await expect.poll(async () => (await gemini())?.model).toBeNull();
    await open('backups');
    await button('Make a backup').click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^Download svc-backup-/ }).click(),
    ]);
    expect([...readFileSync(await download.path()).subarray(0, 2)]).toEqual([0x1f, 0x8b]);
    expect(faults).toEqual([]);
  });
});
