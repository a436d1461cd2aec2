import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { openLoginParts } from '../../test/open-login-parts.ts';
import { createLoginVisit, requireProof } from './login-visit.ts';

const from = { device: 'a browser', method: 'password' } as const;
const twelveHoursMs = 12 * 60 * 60_000;
const page = { origin: 'https://a.example' };

function open() {
  const parts = openLoginParts();
  const visit = createLoginVisit(parts.sessions, parts.clock);
  const request = (headers: object) => ({ headers }) as FastifyRequest;
  return { ...parts, visit, request };
}

test('a session is found by its cookie, together with its own header token when one is given', async () => {
  const { db, sessions } = open();
  const [one, other] = [await sessions.open(db, from), await sessions.open(db, from)];
  expect(await sessions.find(one.cookie, null)).toMatchObject(from);
  expect(await sessions.find(one.cookie, one.header)).toMatchObject(from);
  for (const header of ['', other.header, one.cookie]) expect(await sessions.find(one.cookie, header)).toBeNull();
  for (const cookie of ['', one.header]) expect(await sessions.find(cookie, null)).toBeNull();
  expect(new Set([one.cookie, one.header, other.cookie, other.header]).size).toBe(4);
  expect(JSON.stringify(await sessions.find(one.cookie, null))).not.toMatch(/hash/);
});

test('a session expires after twelve hours and is deleted when the next one begins', async () => {
  const { clock, db, sessions } = open();
  const { cookie } = await sessions.open(db, from);
  clock.advance(twelveHoursMs - 1);
  expect([await sessions.find(cookie, null), await sessions.list()]).toMatchObject([from, [from]]);
  clock.advance(1);
  expect([await sessions.find(cookie, null), await sessions.list()]).toEqual([null, []]);
  await sessions.open(db, from);
  expect(await db.all('SELECT id FROM login_session')).toHaveLength(1);
});

test('the time of the last use is stored to the minute', async () => {
  const { clock, db, sessions } = open();
  const { cookie } = await sessions.open(db, from);
  const seen = async () => (await sessions.list())[0]?.seen_at;
  const begun = clock.now();
  clock.advance(59_999);
  await sessions.find(cookie, null);
  expect(await seen()).toBe(begun);
  clock.advance(1);
  await sessions.find(cookie, null);
  expect(await seen()).toBe(begun + 60_000);
});

test('a session stays signed in while nothing can be written, as on a full disk', async () => {
  const { clock, db, sessions } = open();
  const { cookie, header } = await sessions.open(db, from);
  clock.advance(60_000);
  db.raw.exec('PRAGMA query_only=ON');
  expect(await sessions.find(cookie, header)).toMatchObject(from);
  db.raw.exec('PRAGMA query_only=OFF');
});

test('ends one session, all but one, or all', async () => {
  const { db, sessions } = open();
  for (let times = 0; times < 3; times++) await sessions.open(db, from);
  const [first, second] = await sessions.list();
  expect([await sessions.end(db, first!.id), await sessions.end(db, first!.id)]).toEqual([true, false]);
  await sessions.endAll(db, second!.id);
  expect(await sessions.list()).toEqual([second]);
  await sessions.endAll(db);
  expect(await sessions.list()).toEqual([]);
});

test('at most eight login cookies are checked, so that planted ones cannot make more work', async () => {
  const { db, sessions, visit, request } = open();
  const { cookie } = await sessions.open(db, from);
  const planted = (count: number) =>
    [...Array.from({ length: count }, () => 'svc-login=planted'), `svc-login=${cookie}`].join('; ');
  expect(await visit.find(request({ cookie: planted(7) }), false)).toMatchObject(from);
  for (const headers of [{ cookie: planted(8) }, {}])
    await expect(visit.find(request(headers), false)).rejects.toMatchObject({ code: 'unauthorized' });
});

test('own() requires cookie, header token and origin, and proven() a second factor of the last ten minutes too', async () => {
  const { clock, db, sessions, visit, request } = open();
  const { cookie, header } = await sessions.open(db, from);
  const whole = { ...page, cookie: `__Host-svc-login=${cookie}`, 'x-session-token': header };
  const { 'x-session-token': _left, ...half } = whole;
  expect([await visit.own(request(whole)), await visit.proven(request(whole))]).toMatchObject([from, from]);
  for (const ask of [visit.own, visit.proven]) {
    for (const headers of [half, { ...whole, 'x-session-token': [header, header] }])
      await expect((async () => ask(request(headers)))()).rejects.toMatchObject({ code: 'unauthorized' });
    for (const headers of [
      { ...whole, origin: undefined },
      { ...whole, 'sec-fetch-site': 'same-site' },
    ])
      await expect((async () => ask(request(headers)))()).rejects.toMatchObject({ code: 'bad_origin' });
  }
  expect(await visit.find(request(half), false)).toMatchObject(from);
  await expect(visit.find(request(half), true)).rejects.toMatchObject({ code: 'unauthorized' });
  clock.advance(10 * 60_000);
  expect(await visit.proven(request(whole))).toMatchObject(from);
  clock.advance(1);
  await expect(visit.proven(request(whole))).rejects.toMatchObject({ code: 'forbidden', details: { step_up: true } });
  expect(await visit.own(request(whole))).toMatchObject(from);
});

test('a second factor that was given while the clock was ahead is required again', async () => {
  const { clock, db, sessions } = open();
  clock.setBack(-60 * 60_000);
  const { cookie } = await sessions.open(db, from);
  const session = await sessions.find(cookie, null);
  if (session === null) throw new Error('no session');
  requireProof(session, clock);
  clock.setBack(60 * 60_000);
  expect(() => requireProof(session, clock)).toThrow(/second factor again/);
});

test('the cookie and the header token are sent apart, with no-store', () => {
  const { visit, request } = open();
  const given = (deviceCookie?: string) => {
    const headers: Record<string, unknown> = {};
    const reply = { header: (name: string, value: unknown) => ((headers[name] = value), reply) };
    const tokens = { cookie: 'c', header: 'h', ...(deviceCookie !== undefined && { deviceCookie }) };
    return { body: visit.give(request(page), reply as unknown as FastifyReply, tokens), headers };
  };
  const { body, headers } = given('d');
  expect([body, headers['cache-control']]).toEqual([{ ok: true, session_token: 'h' }, 'no-store']);
  expect(headers['set-cookie']).toEqual([
    expect.stringMatching(/^__Host-svc-login=c;/),
    expect.stringMatching(/^__Host-svc-device=d;/),
  ]);
  expect(given().headers['set-cookie']).toHaveLength(1);
});
