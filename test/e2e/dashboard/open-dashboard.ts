import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Secret, TOTP } from 'otpauth';
import type { BrowserContext, Page } from 'playwright-core';
import { systemClock } from '@svc/service-kit/clock.ts';
import { makeSetupLink } from '@svc/service-kit/setup-link.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { openHouse, waitFor, type House } from '@svc/testing/house.ts';

export type Dashboard = { house: House; url: string };
export type Account = { name: string; password: string; secret: string; recoveryCodes: string[] };

/** The running service with its dashboard. */
export async function openDashboard(env: Record<string, string> = {}, dataDir?: string): Promise<Dashboard> {
  const [port = 0] = await freePorts(1);
  const house = await openHouse({
    env: { SVC_DASHBOARD: 'on', SVC_DASHBOARD_PORT: String(port), ...env },
    ...(dataDir !== undefined && { dataDir }),
  });
  const url = `http://localhost:${port}`;
  await waitFor(
    // The banner makes a set-up link, too, and only the newest is valid.
    async () => house.output().includes('Ctrl-C stops all') && (await fetch(`${url}/login`).catch(() => null))?.status === 200,
    60_000,
    () => `the dashboard serves no page:\n${house.output()}`,
  );
  return { house, url };
}

/** The code of an authenticator app now, or a number of steps of 30 s later. */
export const codeOf = (secret: string, steps = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });

export const newSetupLink = ({ house, url }: Dashboard, resets = false): string =>
  `${url}/setup#${makeSetupLink(path.join(house.folder, 'run'), systemClock, resets)}`;

/** Sets up the login as a person does, from the link to the first page. `onStep` is called at each page, before it is filled in. */
export async function setUp(
  page: Page,
  dashboard: Dashboard,
  onStep: (name: string) => Promise<void> = async () => undefined,
): Promise<Account> {
  const name = 'Anna';
  const password = 'four plain words here';
  // Found without its text, which is in the language of the browser.
  const goOn = () => page.locator('form [type=submit]').click();
  await page.goto(newSetupLink(dashboard));
  await page.locator('#name').waitFor();
  await onStep('account');
  await page.locator('#name').fill(name);
  await page.locator('#password').fill(password);
  await goOn();
  await page.locator('.key').waitFor();
  await onStep('second factor');
  const secret = ((await page.locator('.key').textContent()) ?? '').replaceAll(' ', '');
  await page.locator('#code').fill(codeOf(secret));
  await goOn();
  await page.locator('form:not(:has(input))').waitFor();
  await onStep('recovery');
  await goOn();
  await page.locator('.codes').waitFor();
  await onStep('recovery codes');
  const recoveryCodes = await page.locator('.codes code').allTextContents();
  await page.locator('#code').fill(recoveryCodes[3] ?? '');
  await goOn();
  await isLive(page);
  return { name, password, secret, recoveryCodes };
}

/**
 * Sets up the login by a few requests, for tests that are not about the set-up. The page is signed in afterwards; the test has to go to its first
 * screen.
 */
export async function signUp(page: Page, dashboard: Dashboard, link = newSetupLink(dashboard)): Promise<Account> {
  const name = 'Anna';
  const password = 'four plain words here';
  const token = new URL(link).hash.slice(1);
  const send = async <Answer>(step: string, body: object) => {
    const headers = { 'content-type': 'application/json', 'x-setup-token': token };
    const request = JSON.stringify({ method: 'POST', headers, body: JSON.stringify(body) });
    const [status, answer] = (await page.evaluate(
      `fetch('/core/v2/auth/setup/${step}', ${request}).then(async (answer) => [answer.status, await answer.json()])`,
    )) as [number, Answer];
    if (status !== 200) throw new Error(`The set-up refuses ${step}: ${JSON.stringify(answer)}`);
    return answer;
  };
  await page.goto(`${dashboard.url}/login`);
  const { secret } = await send<{ secret: string }>('account', { name, password });
  await send('totp', { code: codeOf(secret) });
  const { recovery_codes: recoveryCodes } = await send<{ recovery_codes: string[] }>('recovery-codes', {});
  const { session_token: session } = await send<{ session_token: string }>('finish', { code: recoveryCodes[3] });
  await page.evaluate(`localStorage.setItem('svc-session-token', ${JSON.stringify(session)})`);
  return { name, password, secret, recoveryCodes };
}

export async function signIn(page: Page, { name, password }: Pick<Account, 'name' | 'password'>, code: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByLabel('Code').fill(code);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** A login of another browser, without the browser. */
export async function loginTokens(
  { url }: Pick<Dashboard, 'url'>,
  { name, password }: Pick<Account, 'name' | 'password'>,
  code: string,
): Promise<{ cookie: string; token: string }> {
  const answer = await fetch(`${url}/core/v2/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ name, password, code }),
  });
  if (!answer.ok) throw new Error(`The login is refused: ${await answer.text()}`);
  const cookies = answer.headers.getSetCookie().map((cookie) => cookie.replace(/;.*/s, ''));
  return { cookie: cookies.join('; '), token: ((await answer.json()) as { session_token: string }).session_token };
}

/** Makes everyone's last second factor eleven minutes old, so that dangerous actions ask for a new one. */
export function ageProof({ house }: Pick<Dashboard, 'house'>): void {
  const db = new DatabaseSync(path.join(house.folder, 'login.db'), { timeout: 10_000 });
  db.exec('UPDATE login_session SET proven_at = proven_at - 11 * 60000');
  db.close();
}

export const isLive = (page: Page): Promise<void> => page.locator('.link.live').waitFor({ state: 'attached' });

/** The session tokens of a page, for requests made without it. */
export async function tokensOf(context: BrowserContext, page: Page): Promise<{ cookie: string; token: string }> {
  const cookies = await context.cookies();
  const token = (await page.evaluate("localStorage.getItem('svc-session-token')")) as string;
  return { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '), token };
}
