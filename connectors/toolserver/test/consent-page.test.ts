import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { listen } from '@svc/testing/listen.ts';
import { authorizeUrl, registered } from './authorize.ts';
import { openToolserver } from './open-toolserver.ts';

const executablePath = process.env['TEST_CHROMIUM'] ?? '/usr/bin/chromium';
const why = existsSync(executablePath) ? null : `there is no ${executablePath}`;
const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];

describe.skipIf(why !== null)(`the page of approval in a real browser${why === null ? '' : ` (skipped: ${why})`}`, () => {
  test.each([
    { width: 390, colorScheme: 'light', javaScriptEnabled: false },
    { width: 1280, colorScheme: 'dark', javaScriptEnabled: true },
  ] as const)('leads back to the program: $width wide, $colorScheme, scripts $javaScriptEnabled', async (look) => {
    const server = await openToolserver();
    const back = http.createServer((_request, response) => response.end('signed in'));
    const program = await listen(back);
    const browser = await chromium.launch({ executablePath, args });
    onTestFinished(async () => {
      await browser.close();
      await program.close();
    });
    const { width, ...rest } = look;
    const context = await browser.newContext({ viewport: { width, height: 844 }, ...rest });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
    const client = await registered(server, { client_name: 'An editor', redirect_uris: [`${program.url}/back`] });
    await page.goto(authorizeUrl(server, client, { redirect_uri: `${program.url}/back` }));

    expect(await page.getByRole('heading').textContent()).toBe('Let this program ask assistant?');
    const body = page.locator('body');
    expect(await body.evaluate((node) => node.scrollWidth)).toBeLessThanOrEqual(width);
    const { width: line = 0 } = (await page.locator('main').boundingBox()) ?? {};
    expect(line).toBeLessThanOrEqual(544); // its style is there
    expect(complaints).toEqual([]);

    await page.getByLabel('Code').fill('AAAA-AAAA');
    await page.getByRole('button', { name: 'Approve' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('This code is not good.');
    await page.getByLabel('Code').fill(await server.code());
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.waitForURL(`${program.url}/back**`);
    expect(new URL(page.url()).searchParams.get('code')).not.toBeNull();
    expect(complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
  });
});
