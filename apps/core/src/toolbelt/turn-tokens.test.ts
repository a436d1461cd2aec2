import { expect, test } from 'vitest';
import { operator, type ToolCaller } from './tool-caller.ts';
import { createTurnTokens } from './turn-tokens.ts';

const caller = (): ToolCaller => ({ ...operator() });

test('a conversation keeps its token, which identifies the caller of the current turn', () => {
  const tokens = createTurnTokens();
  const [owner, guest] = [caller(), caller()];
  const [first, second] = [new AbortController(), new AbortController()];
  const token = tokens.begin('k', owner, first.signal);
  expect(tokens.callerOf(token)).toBe(owner);
  first.abort();
  expect(tokens.callerOf(token)).toBeNull();
  expect(tokens.begin('k', guest, second.signal)).toBe(token);
  expect(tokens.callerOf(token)).toBe(guest);
});

test('a turn that ends late does not revoke the token of the next one', () => {
  const tokens = createTurnTokens();
  const [late, next] = [new AbortController(), new AbortController()];
  const second = caller();
  tokens.begin('k', caller(), late.signal);
  const token = tokens.begin('k', second, next.signal);
  late.abort();
  expect(tokens.callerOf(token)).toBe(second);
});

test('a turn that has already ended gets an invalid token', () => {
  const tokens = createTurnTokens();
  expect(tokens.callerOf(tokens.begin('k', caller(), AbortSignal.abort()))).toBeNull();
});

test('every conversation has its own token, and any other text is invalid', () => {
  const tokens = createTurnTokens();
  const { signal } = new AbortController();
  const [a, b] = [tokens.begin('a', caller(), signal), tokens.begin('b', caller(), signal)];
  expect(a).not.toBe(b);
  expect(a.length).toBeGreaterThanOrEqual(86);
  for (const wrong of ['', tokens.secret, a.slice(0, -1), `${a}x`]) expect(tokens.callerOf(wrong)).toBeNull();
  expect([a, b].every((token) => token.startsWith(tokens.secret))).toBe(true);
});

test('tokens of conversations without a turn are dropped over the limit, oldest first', () => {
  const tokens = createTurnTokens();
  const running = tokens.begin('running', caller(), new AbortController().signal);
  const old = tokens.begin('old', caller(), AbortSignal.abort());
  for (let i = 0; i < 1200; i++) tokens.begin(`k${i}`, caller(), AbortSignal.abort());
  expect(tokens.count()).toBeLessThanOrEqual(1001);
  expect(tokens.callerOf(running)).not.toBeNull();
  expect(tokens.begin('old', caller(), AbortSignal.abort())).not.toBe(old);
});

test('forgetIdle() renews the tokens of idle conversations only', () => {
  const tokens = createTurnTokens();
  const live = new AbortController();
  const kept = tokens.begin('live', caller(), live.signal);
  const idle = tokens.begin('idle', caller(), AbortSignal.abort());
  expect(tokens.live()).toBe(1);
  tokens.forgetIdle();
  expect(tokens.callerOf(kept)).not.toBeNull();
  expect(tokens.begin('idle', caller(), AbortSignal.abort())).not.toBe(idle);
});
