import { connect } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import { maxLinkLine } from '@svc/contract/link.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { workedMs } from '@svc/testing/worked-ms.ts';
import { CoreError } from '../src/core-error.ts';
import { createCoreLink, type CoreLink, type CoreLinkOptions } from '../src/core-link.ts';
import { startLinkServer, type LinkCall, type LinkServer } from '../src/testing/link-server.ts';

const envelope = (text: string): Envelope => ({
  channel: 'compat',
  conversation_key: `compat:i:${text.slice(0, 20)}`,
  sender: { raw_id: 'ann' },
  content: { text },
});
const resultOf = (text: string): HandleResult => ({
  actions: [{ type: 'reply', text }],
  outcome: 'replied',
  conversation_key: 'k',
  turn_id: 't',
});
const textOf = ({ request }: LinkCall): string => (request.op === 'handle' ? request.envelope.content.text : '');
const echo = (call: LinkCall) => call.reply({ result: resultOf(textOf(call)) });

describe('link to the core', () => {
  let folder: TemporaryFolder;
  let socketPath: string;
  let server: LinkServer | null;
  const links: CoreLink[] = [];

  beforeEach(() => {
    folder = temporaryFolder();
    socketPath = path.join(folder.path, 'core.sock');
    server = null;
  });
  afterEach(async () => {
    for (const link of links.splice(0)) link.close();
    await server?.stop();
    folder.remove();
  });
  const serve = async (answer: (call: LinkCall) => void) => (server = await startLinkServer(socketPath, answer));
  const open = (options: Partial<CoreLinkOptions> = {}) => {
    const link = createCoreLink({ socketPath, pass: 'a-pass', clock: systemClock, log: () => undefined, ...options });
    links.push(link);
    return link;
  };

  test('rejects long messages while pending ones hold too much, but accepts short ones', async () => {
    const waiting: LinkCall[] = [];
    await serve((call) => void waiting.push(call));
    const link = open({ maxHeldChars: 300_000 });
    const long = 'x'.repeat(200_000);
    const first = link.handle(envelope(long));
    await expect(link.handle(envelope(long))).rejects.toMatchObject({ code: 'queue_full' });
    const short = link.handle(envelope('short'));
    await expect.poll(() => waiting.length === 2).toBe(true);
    for (const call of waiting.splice(0)) echo(call);
    await Promise.all([first, short]);
    const again = link.handle(envelope(long));
    await expect.poll(() => waiting.length === 1).toBe(true);
    for (const call of waiting) echo(call);
    await again;
  });

  test('carries many turns at once over one connection, and returns each answer to its caller', async () => {
    const waiting: LinkCall[] = [];
    await serve((call) => {
      waiting.push(call);
      if (waiting.length === 50) for (const one of waiting.toReversed()) echo(one);
    });
    const link = open();
    const texts = Array.from({ length: 50 }, (_, i) => `turn ${i}`);
    const results = await Promise.all(texts.map((text) => link.handle(envelope(text))));
    expect(results.map((result) => result.actions[0]?.text)).toEqual(texts);
    expect(server?.connections).toBe(1);
  });

  test('passes on the request id, the stream flag and the envelope', async () => {
    await serve(echo);
    await open().handleStream(envelope('hi'), {}, { requestId: 'req_7' });
    expect(server?.calls[0]?.request).toEqual({
      op: 'handle',
      id: 1,
      stream: true,
      request_id: 'req_7',
      envelope: envelope('hi'),
    });
  });

  test('calls the handlers of a streamed turn in order, and flushes once per read', async () => {
    await serve((call) =>
      call.reply(
        { frame: { type: 'queued', position: 2 } },
        { frame: { type: 'thinking', text: 'hm' } },
        { frame: { type: 'tool', id: 't1', name: 'look', input: { a: 1 } } },
        { frame: { type: 'tool_result', id: 't1', ok: true, output: 'seen' } },
        { frame: { type: 'delta', text: 'a' } },
        { frame: { type: 'delta', text: 'b' } },
        { frame: { type: 'segment', text: 'ab' } },
        { frame: { type: 'retract' } },
        { result: resultOf('') },
      ),
    );
    const seen: string[] = [];
    await open().handleStream(envelope('hi'), {
      onQueued: (position) => seen.push(`queued ${position}`),
      onThinking: (text) => seen.push(`thinking ${text}`),
      onTool: (tool) => seen.push(`tool ${tool.name}`),
      onToolResult: (result) => seen.push(`result ${result.output}`),
      onDelta: (text) => seen.push(`delta ${text}`),
      onSegment: (text) => seen.push(`segment ${text}`),
      onRetract: () => seen.push('retract'),
      onFlush: () => seen.push('flush'),
    });
    expect(seen).toEqual([
      'queued 2',
      'thinking hm',
      'tool look',
      'result seen',
      'delta a',
      'delta b',
      'segment ab',
      'retract',
      'flush',
    ]);
  });

  test('continues when a handler rejects or is missing', async () => {
    await serve((call) => {
      call.reply({ frame: { type: 'delta', text: 'x' } });
      echo(call);
    });
    const log = vi.fn();
    const link = open({ log });
    const onDelta = () => Promise.reject(new Error('mine')) as unknown as void;
    await expect(link.handleStream(envelope('a'), { onDelta })).resolves.toMatchObject({ turn_id: 't' });
    await vi.waitFor(() => expect(log).toHaveBeenCalledWith('error', 'a stream handler threw', { error: 'mine' }));
    const handleStream = link.handleStream as (given: Envelope) => Promise<HandleResult>;
    await expect(handleStream(envelope('b'))).resolves.toMatchObject({ turn_id: 't' });
  });

  test('completes the turn when a handler throws, and logs the error', async () => {
    await serve((call) => call.reply({ frame: { type: 'delta', text: 'x' } }, { result: resultOf('done') }));
    const log = vi.fn();
    const link = open({ log });
    const onDelta = () => {
      throw new Error('mine');
    };
    await expect(link.handleStream(envelope('a'), { onDelta })).resolves.toMatchObject({ turn_id: 't' });
    expect(log).toHaveBeenCalledWith('error', expect.any(String), expect.objectContaining({ error: 'mine' }));
  });

  test("rejects with the code and details of the core's error", async () => {
    await serve((call) =>
      call.reply({ error: { ok: false, error: 'engine_overloaded', message: 'Later.', request_id: 'r', retry_after_s: 3 } }),
    );
    const error = await open()
      .handle(envelope('hi'))
      .catch((fault: unknown) => fault);
    expect(error).toBeInstanceOf(CoreError);
    expect(error).toMatchObject({
      code: 'engine_overloaded',
      status: 503,
      message: 'Later.',
      mayHaveRun: true,
      details: { retry_after_s: 3 },
    });
  });

  test('resolves a sender without a turn', async () => {
    const identity = {
      principal_id: 'p',
      principal_key: 'ann',
      display_name: 'Ann',
      trust_tier: 'KNOWN',
      tool_policy: 'read',
      tool_servers: '*',
      asks: 'never',
      bypass_moderation: false,
      denied: false,
      reason: '',
    } as const;
    await serve((call) => call.reply({ identity }));
    await expect(open().resolve(envelope('x'))).resolves.toEqual(identity);
  });

  test('requests a checkout', async () => {
    const checkout = { id: 'co_1', path: '/c', sha: 'a'.repeat(40) };
    await serve((call) => call.reply({ checkout }));
    await expect(open().checkout({ url: 'https://example.com/a' })).resolves.toEqual(checkout);
  });

  test('carries text in any script and replies of megabytes', async () => {
    const text = '日本語 🙂 '.repeat(400_000);
    await serve(echo);
    const started = workedMs();
    const result = await open().handle(envelope(text));
    expect(result.actions[0]?.text === text).toBe(true);
    expect(workedMs() - started).toBeLessThan(5_000);
  });

  test('rejects a line over the limit before it is sent', async () => {
    await serve(echo);
    await expect(open().handle(envelope('x'.repeat(maxLinkLine)))).rejects.toMatchObject({
      code: 'too_large',
      mayHaveRun: false,
    });
    expect(server?.connections).toBe(0);
  });

  test('rejects turns over its limit of open ones', async () => {
    await serve(() => undefined);
    const link = open({ maxPending: 2 });
    const held = [link.handle(envelope('1')), link.handle(envelope('2'))].map((turn) => turn.catch(() => undefined));
    await expect(link.handle(envelope('3'))).rejects.toMatchObject({
      code: 'queue_full',
      status: 429,
      details: { retry_after_s: 1 },
    });
    link.close();
    await Promise.all(held);
  });

  test('rejects pending turns when the link breaks, and reconnects for the next', async () => {
    await serve((call) => (textOf(call) === 'break' ? call.hangUp() : echo(call)));
    const link = open();
    const error = await link.handle(envelope('break')).catch((fault: unknown) => fault);
    expect(error).toMatchObject({ code: 'unavailable', mayHaveRun: true });
    await expect(link.handle(envelope('again'))).resolves.toMatchObject({ outcome: 'replied' });
    expect(server?.connections).toBe(2);
  });

  test.each([['not json\n'], ['[]\n'], ['{"id":1}\n'], ['null\n']])('closes a link that sends %j', async (text) => {
    await serve((call) => call.raw(text));
    await expect(open().handle(envelope('hi'))).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('ignores answers to unknown turns', async () => {
    await serve((call) => {
      call.raw('{"id":999,"result":{}}\n');
      echo(call);
    });
    await expect(open().handle(envelope('hi'))).resolves.toMatchObject({ outcome: 'replied' });
  });

  test('waits for a core that is starting', async () => {
    const link = open();
    const turn = link.handle(envelope('early'));
    await serve(echo);
    await expect(turn).resolves.toMatchObject({ outcome: 'replied' });
  });

  test('fails after ten seconds without a core', async () => {
    const clock = createFakeClock();
    const turn = open({ clock }).handle(envelope('hi'));
    clock.advance(10_000);
    const error = await turn.catch((fault: unknown) => fault);
    expect(error).toMatchObject({ code: 'unavailable', status: 503, mayHaveRun: false });
    expect((error as Error).message).toMatch(/cannot be reached/);
  });

  test('backs off between attempts to connect, and stops without pending calls', async () => {
    const { clock, delays, live } = countingClock();
    const link = open({ clock, random: () => 0.5 });
    await expect(link.handle(envelope('hi'))).rejects.toMatchObject({ code: 'unavailable' });
    expect(delays.filter((ms) => ms <= 1_000).slice(0, 7)).toEqual([50, 100, 200, 400, 800, 1_000, 1_000]);
    await expect.poll(() => live.size).toBe(0);
    // Long enough for another attempt to fail and to schedule the next one.
    for (let i = 0; i < 3; i++) await failToConnect(socketPath);
    expect(live.size).toBe(0);
  });

  test('holds no timer while idle', async () => {
    const { clock, live } = countingClock();
    await serve(echo);
    await open({ clock }).handle(envelope('hi'));
    expect(live.size).toBe(0);
  });

  test('rejects pending and new calls once it is closed', async () => {
    await serve(() => undefined);
    const link = open();
    const turn = link.handle(envelope('hi'));
    await expect.poll(() => server?.calls).toHaveLength(1);
    link.close();
    await expect(turn).rejects.toMatchObject({ code: 'unavailable', mayHaveRun: true });
    await expect(link.handle(envelope('more'))).rejects.toMatchObject({ code: 'unavailable', mayHaveRun: false });
  });
});

const failToConnect = (socketPath: string) =>
  new Promise<void>(
    (resolve) =>
      void connect(socketPath)
        .on('error', () => undefined)
        .on('close', () => resolve()),
  );

/** The real clock, with its active timers and the delays requested. */
function countingClock() {
  const delays: number[] = [];
  const live = new Set<symbol>();
  const clock: Clock = {
    ...systemClock,
    after(ms, fn) {
      const id = Symbol('timer');
      delays.push(ms);
      live.add(id);
      const cancel = systemClock.after(ms, () => {
        live.delete(id);
        fn();
      });
      return () => {
        live.delete(id);
        cancel();
      };
    },
  };
  return { clock, delays, live };
}
