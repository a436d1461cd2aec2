import { describe, expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import { says } from '@svc/testing/scripted-engine.ts';
import { callTool, toolbeltOf } from './call-tool.ts';
import { from, fromOwner, openToolbeltBench, operatorToken, tokenOf } from './open-toolbelt-bench.ts';

const bench = openToolbeltBench();
const { call, direct, inTurn } = bench;
const hasToolbelt = (message: Envelope): Promise<boolean> =>
  inTurn(message, ({ toolServers }) => Promise.resolve(toolServers.some(({ name }) => name === 'svc-toolbelt')));

describe('toolbelt token of a turn', () => {
  test('expires when the turn is over', async () => {
    const token = await inTurn(fromOwner(), async (request) => {
      const held = tokenOf(request);
      expect((await direct(held)).status).toBe(200);
      return held;
    });
    expect(await direct(token)).toMatchObject({ status: 401, body: { error: 'unauthorized' } });
  });

  test('stays the same for a conversation, but has the rights of the current sender', async () => {
    const group = (who: string) => from(who, { conversation_key: 'messenger:m1:chat:all' });
    const first = await inTurn(group('trusted'), async (request) => {
      expect((await callTool(toolbeltOf(request), 'svc_announce', { text: 'x' })).ok).toBe(true);
      return tokenOf(request);
    });
    await inTurn(group('reader'), async (request) => {
      expect(tokenOf(request)).toBe(first);
      expect(await callTool(toolbeltOf(request), 'svc_announce', { text: 'x' })).toMatchObject({ ok: false });
    });
    await inTurn(group('visitor'), async ({ toolServers }) => {
      expect(toolServers).toEqual([]);
      expect((await direct(first)).status).toBe(401);
    });
  });

  test('has the rights that its person has at the moment of a call', async () => {
    const setStatus = async (status: string) => {
      await bench.core.context.db.run("UPDATE principal SET status = ? WHERE key = 'worker'", status);
      bench.core.context.trust.changed();
    };
    const message = from('worker');
    const done = Promise.withResolvers<number[]>();
    bench.core.engine.script(async function* (request) {
      const token = tokenOf(request);
      const before = (await direct(token)).status;
      await setStatus('disabled');
      done.resolve([before, (await direct(token)).status]);
      yield* says('done');
    });
    const answer = (await bench.core.handle(message)).json<{ outcome: string }>();
    const [before = 0, after = 0] = await done.promise;
    expect(before).toBe(200);
    // The turn is being aborted too, and its token with it.
    expect([401, 403]).toContain(after);
    expect(answer.outcome).toBe('aborted');
    await setStatus('active');
  });

  test('is masked in replies', async () => {
    bench.core.engine.script(async function* (request) {
      yield* says(`my token is ${tokenOf(request)}`);
    });
    const answer = (await bench.core.handle(fromOwner())).json<{ actions: { text: string }[] }>();
    expect(answer.actions[0]?.text).toMatch(/^my token is \[redacted:secret\]/);
  });

  test.each([[null], ['wrong'], ['']])('%j is rejected as a token before the body is checked', async (token) => {
    expect((await direct(token, 'svc_who', { wrong: 1 })).status).toBe(401);
  });
});

describe('access to the toolbelt', () => {
  test.each([
    ['reader', true],
    ['worker', true],
    ['trusted', true],
    ['visitor', false],
  ])('%s is offered the toolbelt: %s', async (who, offered) => {
    expect(await hasToolbelt(from(who))).toBe(offered);
  });

  test('read-only roles get read-only tools; calls of others are refused and reported', async () => {
    expect((await call(from('reader'), 'svc_sessions')).ok).toBe(true);
    expect((await call(from('reader'), 'svc_uploads')).ok).toBe(true);
    for (const tool of ['svc_send', 'svc_announce']) {
      expect(await call(from('reader'), tool, { text: 'x' })).toMatchObject({
        ok: false,
        text: expect.stringContaining('not allowed') as string,
      });
    }
    const refusals = bench.core.telemetry.events.filter(
      ({ kind, payload }) => kind === 'trust' && payload['what'] === 'tool_refused',
    );
    expect(refusals.slice(-2)).toMatchObject([
      { session: 'messenger:m1:user:reader', principal: 'reader', payload: { tool: 'svc_send' } },
      { payload: { tool: 'svc_announce' } },
    ]);
  });

  test('invalid input is rejected with the field', async () => {
    expect(await call(fromOwner(), 'svc_who', {})).toMatchObject({
      ok: false,
      text: expect.stringContaining('path is missing') as string,
    });
    expect((await call(fromOwner(), 'svc_sessions', { wild: true })).ok).toBe(false);
  });

  test("the operator's token permits all tools", async () => {
    expect((await direct(operatorToken)).status).toBe(200);
    expect((await direct(operatorToken, 'svc_announce', { text: 'from outside' })).status).toBe(200);
    expect(await direct(operatorToken, 'svc_who', { path: 'relative' })).toMatchObject({ status: 400 });
  });
});

describe('the toolbelt switched off', () => {
  const toggle = () => bench.core.app.inject({ method: 'POST', url: '/v2/mcp/svc-toolbelt/toggle' });

  test("refuses calls of running turns and of the operator's token", async () => {
    const statuses = await inTurn(fromOwner(), async (request) => {
      const before = (await direct(tokenOf(request))).status;
      await toggle();
      return [before, (await direct(tokenOf(request))).status, (await direct(operatorToken)).status];
    });
    expect(statuses).toEqual([200, 403, 403]);
    expect(await direct(operatorToken)).toMatchObject({
      body: { message: expect.stringContaining('./svc tool toggle') as string },
    });
    expect(await hasToolbelt(fromOwner())).toBe(false);
    await toggle();
    expect((await direct(operatorToken)).status).toBe(200);
  });
});
