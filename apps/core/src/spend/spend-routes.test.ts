import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createApp } from '@svc/service-kit/http/create-app.ts';
import { createRemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { secondFactorHeaders } from '@svc/service-kit/http/second-factor.ts';
import { createIntake } from '@svc/service-kit/intake/intake.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { noMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { readVersion } from '@svc/service-kit/version.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite } from '@svc/store/open-sqlite.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { toIdentifierValue } from '../trust/identifier-value.ts';
import { mountSpendRoutes } from './spend-routes.ts';
import { openSpend } from './spend.ts';

const remoteUsers = createRemoteUsers('s'.repeat(43));
const named = remoteUsers.headersFor('anna');
const proven = { ...named, ...secondFactorHeaders(true) };
const log = createLog('core', 'silent');

async function open() {
  const folder = temporaryFolder();
  const db = openSqlite(':memory:');
  migrate(db, path.join(import.meta.dirname, '../db/migrations'));
  const settings = {
    spendPeriod: 'month',
    spendSoftUsd: null,
    spendHardUsd: null,
    spendPrincipalSoftUsd: null,
    spendPrincipalHardUsd: null,
  } as const;
  const events = { spend: () => undefined };
  const spend = await openSpend({ settings, db, clock: createFakeClock(), events, log, toIdentifierValue });
  const app = createApp({
    service: 'core',
    version: readVersion(repositoryRoot, 'core', () => 'stable'),
    log,
    allowedHosts: [],
    mask: noMask,
    intake: createIntake(folder.path),
    remoteUsers,
    health: () => ({ degraded: [] }),
    routes: (routed) => mountSpendRoutes(routed, { spend }),
  });
  onTestFinished(async () => {
    await app.close();
    await db.close();
    folder.remove();
  });
  const set = async (month_usd: number | null, headers: Record<string, string>, value = 'anna@x.org') =>
    (await app.inject({ method: 'PUT', url: '/v2/spend/budget', headers, payload: { surface: 'email', value, month_usd } }))
      .statusCode;
  return { set, left: () => spend.report().budgets.map(({ month_usd }) => month_usd) };
}

test.each([
  [null, 5, 200],
  [null, null, 200],
  [5, 5, 200],
  [5, 4, 200],
  [5, 5.01, 403],
  [5, null, 403],
  [0, 0.01, 403],
])('changing a budget of %j to %j over the dashboard gives %j without a fresh second factor', async (from, to, code) => {
  const { set, left } = await open();
  await set(from, {});
  const before = left();
  expect(await set(to, named)).toBe(code);
  if (code === 403) expect(left()).toEqual(before);
  expect(await set(to, proven)).toBe(200);
  expect(left()).toEqual(to === null ? [] : [to]);
});

test('another spelling of the sender cannot raise a budget; a program of this machine needs no second factor', async () => {
  const { set, left } = await open();
  await set(5, {});
  expect(await set(6, named, 'Anna@X.org')).toBe(403);
  expect(await set(6, {}, 'Anna@X.org')).toBe(200);
  expect(left()).toEqual([6]);
});
