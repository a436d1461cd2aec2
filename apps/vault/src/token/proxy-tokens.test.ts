import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createProxyTokens, tokenLifeMs } from './proxy-tokens.ts';

const grant = { agentId: 'a1', name: 'N', tier: 'KNOWN' } as const;

function open() {
  const clock = createFakeClock();
  return { clock, tokens: createProxyTokens(clock) };
}

test('V06: a token is redeemed once, for its grant', () => {
  const { clock, tokens } = open();
  const { token, expires_at } = tokens.issue(grant);
  expect(token).toMatch(/^vtoken_[\w-]{43}$/);
  expect(expires_at).toBe(clock.now() + tokenLifeMs);
  expect(tokens.take(token)).toMatchObject(grant);
  expect(tokens.take(token)).toBeNull();
});

test('V06: a token expires at its time', () => {
  const { clock, tokens } = open();
  const [early, late] = [tokens.issue(grant), tokens.issue(grant)];
  clock.advance(tokenLifeMs - 1);
  expect(tokens.take(early.token)).not.toBeNull();
  clock.advance(1);
  expect(tokens.take(late.token)).toBeNull();
});

test('at most a thousand unredeemed tokens per agent are valid, not counting expired ones', () => {
  const { clock, tokens } = open();
  for (let n = 0; n < 999; n++) tokens.issue(grant);
  clock.advance(1);
  tokens.issue(grant);
  expect(() => tokens.issue(grant)).toThrow('This agent has 1000 unredeemed tokens. Redeem them, or wait until they expire.');
  expect(tokens.issue({ ...grant, agentId: 'a2' }).token).toBeTruthy();
  clock.advance(tokenLifeMs - 1); // all but the newest have expired
  for (let n = 0; n < 999; n++) tokens.issue(grant);
  expect(() => tokens.issue(grant)).toThrow('1000 unredeemed tokens');
});

test('clear() invalidates every token', () => {
  const { tokens } = open();
  const { token } = tokens.issue(grant);
  tokens.clear();
  expect(tokens.take(token)).toBeNull();
});

test.each([
  ['back', 5 * 3_600_000],
  ['forward', -5 * 3_600_000],
])('the lifetime of a token does not change when the clock is set %s', (_way, backMs) => {
  const { clock, tokens } = open();
  const [early, late] = [tokens.issue(grant), tokens.issue(grant)];
  clock.setBack(backMs);
  clock.advance(tokenLifeMs - 1);
  expect(tokens.take(early.token)).not.toBeNull();
  clock.advance(1);
  expect(tokens.take(late.token)).toBeNull();
});
