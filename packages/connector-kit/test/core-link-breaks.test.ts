import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import { maxLinkLine } from '@svc/contract/link.ts';
import type { HandleResult, Outcome } from '@svc/contract/turn.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { StreamHandlers } from '../src/connector.ts';
import { createCoreLink, type CoreLink, type CoreLinkOptions } from '../src/core-link.ts';
import { startLinkServer, type LinkCall, type LinkServer } from '../src/testing/link-server.ts';

const envelope = (text: string, message_id: string | undefined = text): Envelope => ({
  channel: 'compat',
  conversation_key: 'compat:i:k',
  message_id,
  sender: { raw_id: 'ann' },
  content: { text },
});
const resultOf = (text: string, outcome: Outcome = 'replied'): HandleResult => ({
  actions: text === '' ? [] : [{ type: 'reply', text }],
  outcome,
  conversation_key: 'k',
  turn_id: 't',
});
const textOf = ({ request }: LinkCall): string => (request.op === 'handle' ? request.envelope.content.text : request.op);
const isAgain = ({ request }: LinkCall): boolean => request.op === 'handle' && request.again === true;
const echo = (call: LinkCall) => call.reply({ result: resultOf(textOf(call)) });
const fault = (turn: Promise<unknown>): Promise<unknown> =>
  turn.then(
    () => 'answered',
    (error: unknown) => error,
  );

describe('core link that breaks', () => {
  let folder: TemporaryFolder;
  let socketPath: string;
  let server: LinkServer;
  let answer: (call: LinkCall) => void;
  /** How many breaks of a link were logged. */
  let downs: number;
  const links: CoreLink[] = [];

  beforeEach(async () => {
    downs = 0;
    folder = temporaryFolder();
    socketPath = path.join(folder.path, 'core.sock');
    answer = echo;
    await start();
  });
  afterEach(async () => {
    for (const link of links.splice(0)) link.close();
    await server.stop();
    folder.remove();
  });
  const start = async () => void (server = await startLinkServer(socketPath, (call) => answer(call)));
  const open = (options: Partial<CoreLinkOptions> = {}) => {
    const log = (_level: string, message: string) => void (message === 'the link to the core is down' && downs++);
    const link = createCoreLink({ socketPath, pass: 'a-pass', clock: systemClock, log, ...options });
    links.push(link);
    return link;
  };
  const soon = (check: () => void) => vi.waitFor(check, { timeout: 40_000, interval: 1 });
  const isDown = (times = 1) => soon(() => expect(downs).toBe(times));
  const arrived = (count: number) => soon(() => expect(server.calls).toHaveLength(count));
  /** Answers calls only when they are sent again. */
  const answerAgainOnly = (reply: (call: LinkCall) => void = echo) => {
    answer = (call) => (isAgain(call) ? reply(call) : undefined);
  };
  const recorder = () => {
    const seen: string[] = [];
    const handlers: StreamHandlers = {
      onQueued: (position) => void seen.push(`queued ${position}`),
      onDelta: (text) => void seen.push(text),
      onTool: ({ name }) => void seen.push(`tool ${name}`),
      onRetract: () => void seen.push('retract'),
    };
    return { seen, handlers };
  };

  describe('message with an id', () => {
    test('is sent again with a mark, and its answer reaches the caller', async () => {
      answerAgainOnly();
      const turn = open().handle(envelope('hello'), { requestId: 'req_7', confirm: true });
      await arrived(1);
      server.breakLinks();
      await expect(turn).resolves.toEqual(resultOf('hello'));
      const [first, second] = server.calls.map(({ request }) => request);
      expect(first).not.toHaveProperty('again');
      expect(second).toEqual({ ...first, again: true });
      expect(first).toMatchObject({ request_id: 'req_7', confirm: true });
    });

    test('reports its acceptance once, and none when it is rejected', async () => {
      const said: string[] = [];
      const options = { onAccepted: (turnId: string) => void said.push(turnId) };
      answer = (call) => {
        call.reply({ accepted: { turn_id: 't1' } });
        if (isAgain(call)) echo(call);
      };
      const link = open();
      const turn = link.handle(envelope('hello'), options);
      await soon(() => expect(said).toEqual(['t1']));
      server.breakLinks();
      await expect(turn).resolves.toEqual(resultOf('hello'));
      answer = (call) => call.reply({ error: { ok: false, error: 'queue_full', message: 'full', request_id: 'r' } });
      await expect(link.handle(envelope('more'), options)).rejects.toMatchObject({ code: 'queue_full' });
      expect(said).toEqual(['t1']);
      expect(server.calls.map(({ request }) => request)).toMatchObject([
        { ack: true },
        { ack: true, again: true },
        { ack: true },
      ]);
    });

    test('of an earlier process is marked from the first attempt', async () => {
      await open().handle(envelope('hello'), { again: true });
      expect(server.calls[0]?.request).toMatchObject({ again: true });
    });

    test('is sent again in the original order, with later messages behind', async () => {
      answerAgainOnly(() => undefined);
      const link = open();
      const turns = ['1', '2', '3'].map((text) => fault(link.handle(envelope(text))));
      await arrived(3);
      await server.stop();
      await isDown();
      turns.push(fault(link.handle(envelope('4'))));
      await start();
      await arrived(4);
      expect(server.calls.map((call) => [textOf(call), isAgain(call)])).toEqual([
        ['1', true],
        ['2', true],
        ['3', true],
        ['4', false],
      ]);
      link.close();
      await Promise.all(turns);
    });

    test('that cannot be sent within 10 s fails, and has not run', async () => {
      await server.stop();
      const clock = createFakeClock();
      const turn = fault(open({ clock }).handle(envelope('early')));
      clock.advance(10_000);
      expect(await turn).toMatchObject({ code: 'unavailable', mayHaveRun: false });
      await start();
    });

    test('waits 30 s after the break, then fails as possibly run', async () => {
      const clock = createFakeClock();
      answerAgainOnly();
      const failed = vi.fn<(error: unknown) => void>();
      const turn = open({ clock }).handle(envelope('hello')).catch(failed);
      await arrived(1);
      await server.stop();
      await isDown();
      clock.advance(29_999);
      expect(failed).not.toHaveBeenCalled();
      clock.advance(1);
      await turn;
      expect(failed).toHaveBeenCalledWith(expect.objectContaining({ code: 'unavailable', mayHaveRun: true }));
      expect(failed.mock.calls[0]?.[0]).toMatchObject({ message: expect.stringMatching(/connection to the core was lost/) });
      await start();
    });

    test('fails after 30 s when the core accepts it and disconnects each time', async () => {
      const clock = createFakeClock();
      answer = (call) => call.hangUp();
      const turn = fault(open({ clock, random: () => 0.5 }).handle(envelope('poison')));
      let isOver = false;
      void turn.then(() => (isOver = true));
      const began = clock.now();
      for (let tries = 1; !isOver; tries++) {
        await soon(() => expect(isOver || downs >= tries).toBe(true));
        clock.advance(1_000);
      }
      expect(await turn).toMatchObject({ code: 'unavailable', mayHaveRun: true });
      expect(clock.now() - began).toBeGreaterThanOrEqual(30_000);
      expect(clock.now() - began).toBeLessThan(35_000);
      expect(server.connections).toBeLessThan(40);
    });

    test('gets another 30 s when the link was steady in between', async () => {
      const clock = createFakeClock();
      answer = () => undefined;
      const turn = open({ clock }).handle(envelope('long'));
      for (let i = 1; i <= 4; i++) {
        await arrived(i);
        clock.advance(20_000);
        server.breakLinks();
        if (i === 4) answer = echo;
        await isDown(i);
        clock.advance(1_000);
      }
      await expect(turn).resolves.toMatchObject({ outcome: 'replied' });
    });

    test('that would be too long to send again is rejected at once', async () => {
      answerAgainOnly();
      const link = open();
      const room = maxLinkLine - JSON.stringify({ op: 'handle', id: 1, stream: false, envelope: envelope('', 'm') }).length;
      await expect(link.handle(envelope('x'.repeat(room - 1), 'm'))).rejects.toMatchObject({ code: 'too_large' });
      const turn = link.handle(envelope('x'.repeat(room - 20), 'm'));
      await arrived(1);
      server.breakLinks();
      await expect(turn).resolves.toMatchObject({ outcome: 'replied' });
    });

    test('fails at once when the connector stops while the core is away', async () => {
      answerAgainOnly();
      const link = open();
      const turn = fault(link.handle(envelope('hello')));
      await arrived(1);
      await server.stop();
      link.close();
      expect(await turn).toMatchObject({ code: 'unavailable', mayHaveRun: true, message: 'This connector is stopping.' });
      await start();
    });
  });

  test('a call without a message id fails at once, as it may have run', async () => {
    answer = () => undefined;
    const link = open();
    const turns = [fault(link.handle({ ...envelope('x'), message_id: undefined })), fault(link.resolve(envelope('who')))];
    await arrived(2);
    server.breakLinks();
    for (const turn of turns) expect(await turn).toMatchObject({ code: 'unavailable', mayHaveRun: true });
    expect(server.calls).toHaveLength(2);
  });

  describe('streamed turn', () => {
    test('starts over, and retracts the text shown before its first new frame', async () => {
      answer = (call) => {
        if (isAgain(call)) return call.reply({ frame: { type: 'delta', text: 'one two' } }, { result: resultOf('one two') });
        call.reply({ frame: { type: 'delta', text: 'one ' } });
        setImmediate(() => server.breakLinks());
      };
      const { seen, handlers } = recorder();
      await open().handleStream(envelope('hi'), handlers);
      expect(seen).toEqual(['one ', 'retract', 'one two']);
    });

    test.each([['replied'], ['delivered'], ['silent']] as const)(
      'that ends %s without new frames retracts the text shown',
      async (outcome) => {
        answer = (call) => {
          if (isAgain(call)) return call.reply({ result: resultOf('', outcome) });
          call.reply({ frame: { type: 'delta', text: 'one ' } });
          setImmediate(() => server.breakLinks());
        };
        const { seen, handlers } = recorder();
        await expect(open().handleStream(envelope('hi'), handlers)).resolves.toMatchObject({ outcome, actions: [] });
        expect(seen).toEqual(['one ', 'retract']);
      },
    );

    test('with no text shown is not retracted', async () => {
      answer = (call) => {
        if (isAgain(call)) return call.reply({ frame: { type: 'delta', text: 'a' } }, { result: resultOf('a') });
        call.reply({ frame: { type: 'queued', position: 1 } });
        setImmediate(() => server.breakLinks());
      };
      const { seen, handlers } = recorder();
      await open().handleStream(envelope('hi'), handlers);
      expect(seen).toEqual(['queued 1', 'a']);
    });

    test('is retracted once per restart that has text to retract', async () => {
      let times = 0;
      answer = (call) => {
        times++;
        if (times === 4) return call.reply({ frame: { type: 'delta', text: 'd4' } }, { result: resultOf('d4') });
        if (times !== 3) call.reply({ frame: { type: 'delta', text: `d${times}` } }, { frame: { type: 'delta', text: '+' } });
        setImmediate(() => server.breakLinks());
      };
      const { seen, handlers } = recorder();
      await open().handleStream(envelope('hi'), handlers);
      expect(seen).toEqual(['d1', '+', 'retract', 'd2', '+', 'retract', 'd4']);
    });

    test('that is queued after a restart is not retracted again', async () => {
      let times = 0;
      answer = (call) => {
        times++;
        if (times === 3) return call.reply({ frame: { type: 'delta', text: 'c' } }, { result: resultOf('c') });
        call.reply({ frame: times === 1 ? { type: 'delta', text: 'a' } : { type: 'queued', position: 1 } });
        setImmediate(() => server.breakLinks());
      };
      const { seen, handlers } = recorder();
      await open().handleStream(envelope('hi'), handlers);
      expect(seen).toEqual(['a', 'retract', 'queued 1', 'c']);
    });

    test('retracted by the core is not retracted twice', async () => {
      answer = (call) => {
        if (isAgain(call)) return call.reply({ result: resultOf('', 'silent') });
        call.reply({ frame: { type: 'delta', text: 'a' } }, { frame: { type: 'retract' } });
        setImmediate(() => server.breakLinks());
      };
      const { seen, handlers } = recorder();
      await open().handleStream(envelope('hi'), handlers);
      expect(seen).toEqual(['a', 'retract']);
    });
  });

  describe('confirmation of a delivery', () => {
    const said = () => server.calls.flatMap(({ request }) => (request.op === 'delivered' ? [request] : []));
    const saidOf = () => said().map(({ turn_id, error }) => (error === undefined ? turn_id : `${turn_id}: ${error}`));

    test('is sent over the link, with a truncated error', async () => {
      const link = open();
      await link.handle(envelope('hi'), { confirm: true });
      link.delivered('t1');
      link.delivered('t2', 'x'.repeat(10_000));
      await expect.poll(() => said()).toHaveLength(2);
      expect(said()).toEqual([
        { op: 'delivered', id: 2, turn_id: 't1' },
        { op: 'delivered', id: 3, turn_id: 't2', error: 'x'.repeat(4_000) },
      ]);
      expect(server.connections).toBe(1);
    });

    test('waits while the core is away, and precedes later calls', async () => {
      const link = open();
      await server.stop();
      link.delivered('t1');
      const turn = link.handle(envelope('hi'));
      link.delivered('t2', 'blocked by the user');
      await start();
      await turn;
      expect(saidOf()).toEqual(['t1', 't2: blocked by the user']);
      expect(server.calls.at(-1)?.request.op).toBe('handle');
    });

    test('is repeated after a break, as it may not have arrived', async () => {
      const link = open();
      link.delivered('t1');
      await arrived(1);
      server.breakLinks();
      await expect.poll(() => saidOf()).toEqual(['t1', 't1']);
    });

    test('is buffered up to the newest 1,000, and the loss of others is logged once', async () => {
      const log = vi.fn<(...args: unknown[]) => void>();
      const link = open({ log });
      await server.stop();
      for (let i = 0; i < 1_200; i++) link.delivered(`t${i}`);
      await start();
      await expect.poll(() => said()).toHaveLength(1_000);
      expect(saidOf()[0]).toBe('t200');
      expect(log.mock.calls.filter(([level]) => level === 'error')).toHaveLength(1);
    });

    test('is repeated for the latest 100 alone', async () => {
      const link = open();
      for (let i = 0; i < 300; i++) link.delivered(`t${i}`);
      await expect.poll(() => said()).toHaveLength(300);
      server.breakLinks();
      await expect.poll(() => said()).toHaveLength(400);
      expect(saidOf().slice(300)).toEqual(Array.from({ length: 100 }, (_, i) => `t${200 + i}`));
    });

    test('sent right before the connector stops still arrives', async () => {
      const link = open();
      await link.handle(envelope('hi'));
      link.delivered('t1');
      link.close();
      await expect.poll(() => saidOf()).toEqual(['t1']);
      link.delivered('t2');
    });
  });

  test('the intake of the instance replaces that of the connector in every envelope', async () => {
    const link = open({ intake: { debounce_ms: 500, pairing: true } });
    await link.handle(envelope('a'));
    await link.handleStream({ ...envelope('b'), intake: { debounce_ms: 1 } }, {});
    for (const { request } of server.calls) {
      expect(request).toMatchObject({ envelope: { intake: { debounce_ms: 500, pairing: true } } });
    }
  });
});
