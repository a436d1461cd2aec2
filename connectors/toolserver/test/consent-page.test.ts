import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { chromiumArguments, chromiumProgram, whyNoChromium } from '@svc/testing/chromium.ts';
import { listen } from '@svc/testing/listen.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { authorizeUrl, registered } from './authorize.ts';
import { openToolserver } from './open-toolserver.ts';

declare const axe: { run(options: { runOnly?: string[] }): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const why = whyNoChromium();

describe.skipIf(why !== null)(`consent page in a real browser${skipNote(why)}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumProgram, args: [...chromiumArguments] });
  });
  afterAll(() => browser.close());

  test.each([
    { width: 390, colorScheme: 'light', javaScriptEnabled: false },
    { width: 1280, colorScheme: 'dark', javaScriptEnabled: true },
  ] as const)('returns to the program ($width wide, $colorScheme, scripts $javaScriptEnabled)', async (look) => {
    const server = await openToolserver();
    const back = http.createServer((_request, response) => response.end('signed in'));
    const program = await listen(back);
    const { width, ...rest } = look;
    const context = await browser.newContext({ viewport: { width, height: 844 }, ...rest });
    onTestFinished(async () => {
      await context.close();
      await program.close();
    });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
    const client = await registered(server, { client_name: 'An editor', redirect_uris: [`${program.url}/back`] });
    await page.goto(authorizeUrl(server, client, { redirect_uri: `${program.url}/back` }));

    expect(await page.getByRole('heading').textContent()).toBe('Allow this program to ask assistant?');
    const body = page.locator('body');
    expect(await body.evaluate((node) => node.scrollWidth)).toBeLessThanOrEqual(width);
    const { width: line = 0 } = (await page.locator('main').boundingBox()) ?? {};
    expect(line).toBeLessThanOrEqual(544); // the style sheet has loaded
    expect(complaints).toEqual([]);

    await page.getByLabel('Code').fill('AAAA-AAAA');
    await page.getByRole('button', { name: 'Approve' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('This code is invalid or has expired.');
    await page.getByLabel('Code').fill(await server.code());
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.waitForURL(`${program.url}/back**`);
    expect(new URL(page.url()).searchParams.get('code')).not.toBeNull();
    expect(complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
  });

  test.each([390, 1280])('has no accessibility violations (axe) at a width of %s, in light and dark', async (width) => {
    const server = await openToolserver();
    // The policy of the page blocks scripts, and axe is one.
    const context = await browser.newContext({ viewport: { width, height: 844 }, bypassCSP: true });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const find = async () => {
      await page.addScriptTag({ content: axeSource });
      await page.emulateMedia({ colorScheme: 'light' });
      const found = await page.evaluate(async (rules) => (await axe.run(rules)).violations, {});
      // The other theme differs in its colours alone.
      await page.emulateMedia({ colorScheme: 'dark' });
      found.push(...(await page.evaluate(async (rules) => (await axe.run(rules)).violations, { runOnly: ['cat.color'] })));
      return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    };
    await page.goto(authorizeUrl(server, await registered(server)));
    expect(await find()).toEqual([]);
    await page.getByLabel('Code').fill('AAAA-AAAA');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('alert').waitFor();
    expect(await find()).toEqual([]);
    await page.goto(`${server.url}/oauth/authorize?client_id=nobody`);
    expect(await find()).toEqual([]);
  });
});
