import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Announcement } from '@svc/contract/announcement.ts';
import type { ToolServerDocument } from '@svc/contract/tool-server.ts';
import { startHttpToolServer } from '@svc/testing/tool-server/start-http-tool-server.ts';
import { root } from '../repository.ts';
import { type Dashboard, openDashboard, setUp } from './dashboard/open-dashboard.ts';
import { openBrowser, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();

/** What an operator sets in the browser, and what the service has of it afterwards. */
describe.skipIf(why !== null)(`settings in the dashboard${why === null ? '' : ` (skipped: ${why})`}`, () => {
  let dashboard: Dashboard;
  let browser: Browser;
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    browser = await openBrowser([], 'dashboard');
    dashboard = await openDashboard();
    page = await browser.newPage();
    faults = watch(page);
    await setUp(page, dashboard);
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.house.stop();
  });
  const open = (section: string) => page.goto(`${dashboard.url}/settings/${section}`);
  const fromCore = <T>(route: string) => dashboard.house.get<T>(dashboard.house.urls.core + route);
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const inDialog = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });
  const row = (text: string) => page.locator('.rows-list > li').filter({ hasText: text });

  test('settings that are not there say so, and the way to the others stays', async () => {
    await open('nothing-like-this');
    await page.getByText('There are no such settings.').waitFor();
    await page.getByRole('link', { name: 'All settings' }).click();
    await page.getByRole('link', { name: 'Tools' }).click();
    await page.getByRole('heading', { name: 'Tools', exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/settings/tools');
    expect(faults).toEqual([]);
  });

  test('a tool server is added by its form, tried, changed, switched off and removed; what is wrong stands at its field', async () => {
    const servers = async () => (await fromCore<ToolServerDocument>('/v2/mcp')).servers;
    await open('tools');
    await page.getByText("The assistant has the service's own tools alone.").waitFor();
    await button('Add tool server').click();
    await inDialog('Add tool server').click();
    await page.getByText('This is needed.').first().waitFor();
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
    await row('kit').getByText('there now').waitFor();

    await button('Change kit').click();
    await page.getByLabel('Environment').fill('');
    await page.getByLabel('Also for callers who may only read').uncheck();
    await page.getByLabel('Description').fill('what a person would say');
    await inDialog('Save tool server').click();
    await row('what a person would say').waitFor();
    expect((await servers())['kit']).toMatchObject({ safe: false, env: {} });

    await button('Switch kit off').click();
    await button('Switch kit on').waitFor();
    expect((await servers())['kit']?.enabled).toBe(false);
    await button('Remove kit').click();
    await inDialog('Remove tool server').click();
    await expect.poll(async () => Object.keys(await servers())).not.toContain('kit');
    expect(await button('Remove svc-toolbelt').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('a server that is not there says why, and a file of another program is imported', async () => {
    const remote = await startHttpToolServer();
    await open('tools');
    await button('Import').click();
    await page.getByLabel('What is in it').fill('no JSON');
    await inDialog('Import tool servers').click();
    await page.getByText('This is no JSON object.').waitFor();
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
    await row('gone').getByText('not there', { exact: true }).waitFor();
    await row('gone').locator('.fault').first().waitFor();
    const { servers } = await fromCore<ToolServerDocument>('/v2/mcp');
    expect(servers['hub']).toMatchObject({ headers: { Authorization: 'Bearer ${secret:TOKEN_OF_HUB}' } });
    await remote.close();
    expect(faults).toEqual([]);
  });

  test('a note is posted for one person, and taken back; without whom it is for nothing is posted', async () => {
    const notes = async () => (await fromCore<{ announcements: Announcement[] }>('/v2/announcements')).announcements;
    await open('announcements');
    await page.getByText('No note stands.').waitFor();
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
    await page.getByText('No note stands.').waitFor();
    expect(await notes()).toEqual([]);
    expect(faults).toEqual([]);
  });
});
