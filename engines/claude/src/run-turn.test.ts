import { truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';
import { guardEvents } from '@svc/engine-kit/guard-events.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { ClaudeResult } from './claude-messages.ts';
import type { Conversation, TurnListener } from './conversation.ts';
import { runTurn } from './run-turn.ts';

const usage = { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
const result = { type: 'result', subtype: 'success', is_error: false, result: 'ok', usage } as unknown as ClaudeResult;

/** A program that sends what the test says. */
function open(over: Partial<Conversation> = {}, fields: Partial<EngineRequest> = {}) {
  const done: string[] = [];
  const told = Promise.withResolvers<TurnListener>();
  const conversation = {
    used: false,
    sessionId: null,
    query: { interrupt: () => Promise.resolve(void done.push('interrupt')) },
    setToolServers: () => Promise.resolve(true),
    send: (_content: unknown, listener: TurnListener) => told.resolve(listener),
    settle: () => void done.push('settle'),
    close: () => Promise.resolve(void done.push('close')),
    kill: () => Promise.resolve(void done.push('kill')),
    ...over,
  } as unknown as Conversation;
  const controller = new AbortController();
  const request = engineRequest({ prompt: 'hi', cwd: '/', ...fields });
  const run = (signal: AbortSignal) => runTurn(conversation, request, { isNew: true, allowsKey: true }, signal);
  return { all: collect(guardEvents(run, controller.signal)), told: told.promise, done, controller };
}

async function collect(events: AsyncIterable<EngineEvent>): Promise<EngineEvent[]> {
  const all: EngineEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

test('does not interrupt a turn that has ended', async () => {
  const { all, told, done, controller } = open();
  (await told).onMessage(result);
  expect((await all).at(-1)).toEqual({ type: 'done' });
  controller.abort();
  expect(done).toEqual(['settle']);
});

test('interrupts an aborted turn', async () => {
  const { all, told, done, controller } = open();
  const { onMessage } = await told;
  controller.abort();
  expect(done).toEqual(['interrupt']);
  onMessage(result);
  expect((await all).at(-1)).toEqual({ type: 'aborted' });
});

test('kills a program that hangs before the turn is sent when the turn is aborted', async () => {
  const { all, done, controller } = open({ setToolServers: () => new Promise(() => undefined) });
  controller.abort();
  await expect.poll(() => done).toEqual(['kill']);
  expect(await all).toEqual([{ type: 'aborted' }]);
});

test('keeps a program that starts after the turn was aborted', async () => {
  const up = Promise.withResolvers<boolean>();
  const { all, done, controller } = open({ setToolServers: () => up.promise });
  controller.abort();
  up.resolve(true);
  expect(await all).toEqual([{ type: 'aborted' }]);
  expect(done).toEqual([]);
});

test('reads no more of an image than the vendor accepts, and names a larger one by its path', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const image = path.join(folder.path, 'huge.png');
  writeFileSync(image, '');
  truncateSync(image, 512 * 1024 ** 2);
  const peakKb = process.resourceUsage().maxRSS;
  let content = '';
  const send = (sent: unknown, listener: TurnListener) => {
    content = JSON.stringify(sent);
    listener.onMessage(result);
  };
  const { all } = open({ send }, { attachments: [{ path: image, mime: 'image/png' }] });
  expect((await all).at(-1)).toEqual({ type: 'done' });
  expect(content).toContain('huge.png');
  expect(process.resourceUsage().maxRSS - peakKb).toBeLessThan(100 * 1024);
});

test.each([
  ['rejected', 3600],
  ['allowed', null],
  ['allowed_warning', null],
])("takes the end of the account's window for that of a limit only when the limit is reached (%s)", async (status, leftS) => {
  const { all, told } = open();
  const { onMessage } = await told;
  const resetsAt = Math.round(Date.now() / 1000) + 3600;
  onMessage({ type: 'rate_limit_event', rate_limit_info: { status, resetsAt } });
  onMessage({ ...result, is_error: true, result: 'Too many requests', api_error_status: 429 });
  const last = (await all).at(-1);
  const failure = last?.type === 'failed' ? last.failure : undefined;
  expect(failure?.code).toBe('engine_rate_limited');
  if (leftS === null) expect(failure?.retryAfterMs).toBeUndefined();
  else expect(failure?.retryAfterMs).toBeGreaterThan((leftS - 60) * 1000);
});
