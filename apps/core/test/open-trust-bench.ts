import { afterEach, beforeEach, expect } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { Grant, Identifier, Principal, TrustChange } from '@svc/contract/trust.ts';
import { createRemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { envelope } from './open-test-core.ts';
import { openTestTrust, type TestTrust } from './open-test-trust.ts';

/** Whom the proxy of the dashboard names. */
export const users = createRemoteUsers('s'.repeat(43));

export const anna = { key: 'anna', display_name: 'Anna' };

/** A message over the messenger. */
export const from = (raw_id: string, text = 'hi', over: Partial<Envelope> = {}): Envelope =>
  envelope(text, { channel: 'messenger', conversation_key: `messenger:m1:user:${raw_id}`, sender: { raw_id }, ...over });

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** What one asks of the trust framework over HTTP. */
export function trustCalls(core: () => Pick<TestTrust, 'app'>) {
  const call = (method: Method, url: string, payload?: object, headers = {}) =>
    core().app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });
  const ok = async <T>(...args: Parameters<typeof call>): Promise<T> => {
    const answer = await call(...args);
    expect([answer.statusCode, answer.body]).toEqual([200, answer.body]);
    return answer.json() as T;
  };
  const add = (body: object = anna) => ok<Principal>('POST', '/trust/principals', body);
  const link = (key: string, surface: string, value: string) =>
    ok<Identifier>('POST', `/trust/principals/${key}/identifiers`, { surface, value });
  const grant = (key: string, body: object) => ok<Grant>('POST', `/trust/principals/${key}/grants`, body);

  return {
    call,
    ok,
    add,
    link,
    grant,
    /** Anna is known on the messenger as 42. */
    async addAnna(role = 'known'): Promise<Grant> {
      await add();
      await link('anna', 'messenger', '42');
      return grant('anna', { role_id: role });
    },
  };
}

/** A trust framework that is new for each test of a file, with a clock that the test moves. */
export function openTrustBench() {
  let core: TestTrust;
  let clock: FakeClock;
  beforeEach(async () => {
    clock = createFakeClock();
    core = await openTestTrust(clock, users);
  });
  afterEach(() => core.close());
  const calls = trustCalls(() => core);
  const { call, ok } = calls;
  type Call = Parameters<typeof call>;

  return {
    get core() {
      return core;
    },
    get clock() {
      return clock;
    },
    ...calls,
    status: async (...args: Call) => (await call(...args)).statusCode,
    fieldsOf: async (...args: Call): Promise<string[]> => {
      const answer = await call(...args);
      expect(answer.statusCode).toBe(400);
      return (answer.json().fields as { field: string }[]).map(({ field }) => field).toSorted();
    },
    audit: (query = '') => ok<{ audit: TrustChange[]; next: number | null }>('GET', `/trust/audit${query}`),
    resolve: (channel: string, raw_id: string, more: object = {}) =>
      ok<Record<string, unknown>>('POST', '/trust/resolve', { channel, sender: { raw_id }, ...more }),
  };
}
