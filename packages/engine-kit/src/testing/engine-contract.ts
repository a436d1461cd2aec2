import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { TokenUsage } from '@svc/contract/usage.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { Engine, EngineEvent, EngineFailure, EngineRequest } from '../engine.ts';
import { isTerminal } from '../guard-events.ts';
import { collectTurn, ofType } from './collect-turn.ts';
import { engineRequest } from './engine-request.ts';

/** A prompt for the engine, with the other fields of its request. */
export type ContractTurn = { prompt: string } & Partial<EngineRequest>;

/** How the contract drives an engine's model. That engine's (scripted) model reacts to the prompts. */
export type EngineContract = {
  name: string;
  /** Creates an engine. All calls use the same state, as a later process would. */
  createEngine(): Engine | Promise<Engine>;
  turns: {
    /** Streams `reply`. `usage`: the cost of one such turn; omitted when it varies. */
    text: ContractTurn & { reply: string; usage?: Partial<TokenUsage> };
    /**
     * Like `text`, but holds back the end of the reply until `release`, which proves that it is streamed. Omitted when nothing can be held
     * back.
     */
    streamed?: ContractTurn & { reply: string; release(): void };
    thinking: ContractTurn & { thought: string };
    /** Calls a tool; its result contains `output`, and the reply follows. */
    tool: ContractTurn & { tool: RegExp; output: string };
    /** Streams at least one delta, and continues until it is aborted. */
    slow: ContractTurn;
    fail: ContractTurn & { code: EngineFailure['code']; message: RegExp };
  };
  /** A well-formed session id that the engine never created. */
  unknownSession: string;
  /** True when the last turn's model received the messages of the turn with this prompt. Omitted for a model without memory. */
  remembers?(prompt: string): boolean;
  /** The files in which the program stores a text; omitted when it stores no messages. */
  filesHolding?(text: string): readonly string[];
  /** Resolves when no process of an ended turn is running; rejects after a timeout. */
  settled?(): Promise<void>;
  close?(): Promise<void>;
};

/** Time from the abort to the last event: less than the five seconds after which the guard ends the turn itself. */
const abortLimitMs = 4500;

/** What every engine must do. Run it from a test file of the engine. */
export function engineContract(contract: EngineContract): void {
  const { turns } = contract;
  let engine: Engine;
  let folder: TemporaryFolder;
  let cwd: string;
  const extra: Engine[] = [];
  const turn = ({ prompt, ...fields }: ContractTurn, more: Partial<EngineRequest> = {}) =>
    engineRequest({ ...fields, prompt, cwd, ...more });
  const laterProcess = async () => {
    const later = await contract.createEngine();
    extra.push(later);
    return later;
  };

  describe(`${contract.name} keeps the engine contract`, () => {
    beforeAll(async () => {
      folder = temporaryFolder();
      cwd = folder.path;
      engine = await contract.createEngine();
    });
    afterEach(async () => {
      for (const later of extra.splice(0)) await later.close();
    });
    afterAll(async () => {
      await engine.close();
      await contract.settled?.();
      await contract.close?.();
      folder.remove();
    });

    test('a reply is streamed: the deltas add up to the segments, and the turn ends with done', async () => {
      const { streamed } = turns;
      const onEvent = ({ type }: EngineEvent) => (type === 'delta' ? streamed?.release() : undefined);
      const result = await collectTurn(engine, turn(streamed ?? turns.text), { onEvent });
      expect(result.last).toEqual({ type: 'done' });
      expect(result.text).toBe((streamed ?? turns.text).reply);
      expect(result.segments.join('')).toBe(result.text);
      expect(ofType(result.events, 'delta').length).toBeGreaterThan(1);
      expect(result.sessionId).toEqual(expect.any(String));
    });

    test('thinking is kept apart from the reply', async () => {
      const result = await collectTurn(engine, turn(turns.thinking));
      expect(result.thinking).toContain(turns.thinking.thought);
      expect(result.text).not.toContain(turns.thinking.thought);
      expect(result.last).toEqual({ type: 'done' });
    });

    test('a tool call is shown with its input, then its result, then the reply', async () => {
      const { events, last } = await collectTurn(engine, turn(turns.tool));
      expect(last).toEqual({ type: 'done' });
      const call = ofType(events, 'tool').find((event) => turns.tool.tool.test(event.name));
      expect(call, 'no such tool call').toBeDefined();
      const result = ofType(events, 'tool_result').find((event) => event.id === call?.id);
      expect(result).toMatchObject({ ok: true, output: expect.stringContaining(turns.tool.output) });
      const order = events.map((event) => event.type);
      expect(order.indexOf('tool')).toBeLessThan(order.indexOf('tool_result'));
      expect(order.indexOf('tool_result')).toBeLessThan(order.lastIndexOf('segment'));
    });

    test('usage is that of the turn, not a running total', async () => {
      const first = await collectTurn(engine, turn(turns.text, { conversationKey: 'test:usage' }));
      const second = await collectTurn(engine, turn(turns.text, { conversationKey: 'test:usage', resume: first.sessionId }));
      for (const { events } of [first, second]) {
        const usages = ofType(events, 'usage');
        expect(usages).toHaveLength(1);
        expect(usages[0]?.usage).toMatchObject({ estimated: expect.any(Boolean), ...turns.text.usage });
      }
    });

    test('a session goes on in a later process', async () => {
      const earlier = await laterProcess();
      const first = await collectTurn(earlier, turn(turns.text));
      await earlier.close();
      const later = await laterProcess();
      const second = await collectTurn(later, turn(turns.text, { resume: first.sessionId }));
      expect(second.last).toEqual({ type: 'done' });
      expect(ofType(second.events, 'session')).toMatchObject([{ engineSessionId: first.sessionId, resumed: true }]);
      if (contract.remembers) expect(contract.remembers(turns.text.prompt)).toBe(true);
    });

    test('a session that is forgotten leaves nothing of what was said, and others go on', async () => {
      const { filesHolding } = contract;
      const word = randomUUID();
      const said = { ...turns.text, prompt: `${turns.text.prompt}, and mind ${word}` };
      const other = await collectTurn(engine, turn(turns.text, { conversationKey: 'test:other' }));
      const first = await collectTurn(engine, turn(said, { conversationKey: 'test:forgotten' }));
      if (filesHolding) expect(filesHolding(word)).not.toEqual([]);
      for (const id of [String(first.sessionId), String(first.sessionId), contract.unknownSession, '../..'])
        await engine.forget?.(id);
      if (filesHolding) {
        expect(filesHolding(word)).toEqual([]);
        const next = await collectTurn(engine, turn(turns.text, { conversationKey: 'test:forgotten', resume: first.sessionId }));
        expect(ofType(next.events, 'session')).toMatchObject([{ resumed: false }]);
      }
      const again = await collectTurn(engine, turn(turns.text, { conversationKey: 'test:other', resume: other.sessionId }));
      expect(ofType(again.events, 'session')).toMatchObject([{ engineSessionId: other.sessionId, resumed: true }]);
    });

    test('a call without a session leaves nothing of what was said', async () => {
      const word = randomUUID();
      const said = { ...turns.text, prompt: `${turns.text.prompt}, and mind ${word}` };
      const fields = { conversationKey: 'test:title', purpose: 'title', toolPolicy: 'none' } as const;
      expect((await collectTurn(engine, turn(said, fields))).last).toEqual({ type: 'done' });
      expect(contract.filesHolding?.(word) ?? []).toEqual([]);
    });

    test('an unknown session id begins a new session and says so', async () => {
      const result = await collectTurn(engine, turn(turns.text, { resume: contract.unknownSession }));
      expect(ofType(result.events, 'notice').map((notice) => notice.code)).toContain('session_unknown');
      expect(result.text).toBe(turns.text.reply);
      expect(result.sessionId).not.toBe(contract.unknownSession);
      expect(ofType(result.events, 'session')).toMatchObject([{ resumed: false }]);
      expect(result.last).toEqual({ type: 'done' });
    });

    test('an abort in mid-reply ends the turn soon, leaves nothing running, and the session goes on', async () => {
      const controller = new AbortController();
      let abortedAt = 0;
      const onEvent = (event: { type: string }) => {
        if (event.type !== 'delta' || controller.signal.aborted) return;
        abortedAt = performance.now();
        controller.abort();
      };
      const result = await collectTurn(engine, turn(turns.slow), { signal: controller.signal, onEvent });
      expect(performance.now() - abortedAt).toBeLessThan(abortLimitMs);
      expect(result.last).toEqual({ type: 'aborted' });
      expect(ofType(result.events, 'usage')).toHaveLength(1);
      await contract.settled?.();
      const next = await collectTurn(engine, turn(turns.text, { resume: result.sessionId }));
      expect(next.text).toBe(turns.text.reply);
      expect(next.sessionId).toBe(result.sessionId);
    });

    test('a signal that is aborted already starts nothing', async () => {
      const { events } = await collectTurn(engine, turn(turns.text), { signal: AbortSignal.abort() });
      expect(events).toEqual([{ type: 'aborted' }]);
    });

    test('an upstream error is a failed turn with a code and words, not an exception, and the conversation goes on', async () => {
      const failed = await collectTurn(engine, turn(turns.fail, { conversationKey: 'test:fail' }));
      expect(failed.last).toMatchObject({
        type: 'failed',
        failure: { code: turns.fail.code, message: expect.stringMatching(turns.fail.message) },
      });
      expect(failed.events.filter(isTerminal)).toHaveLength(1);
      const next = await collectTurn(engine, turn(turns.text, { conversationKey: 'test:fail', resume: failed.sessionId }));
      expect(next.last).toEqual({ type: 'done' });
    });

    test('two conversations run at the same time and do not mix', async () => {
      const controller = new AbortController();
      const slow = collectTurn(engine, turn(turns.slow, { conversationKey: 'test:slow' }), { signal: controller.signal });
      const fast = await collectTurn(engine, turn(turns.text, { conversationKey: 'test:fast' }));
      controller.abort();
      const stopped = await slow;
      expect(fast).toMatchObject({ text: turns.text.reply, last: { type: 'done' } });
      expect(stopped.last).toEqual({ type: 'aborted' });
      expect(stopped.sessionId).not.toBe(fast.sessionId);
    });

    test('a look at the engine says that it is ready, and why', async () => {
      const probe = await engine.probe();
      expect(probe).toMatchObject({ installed: true, ready: true });
      expect(probe.reason).not.toBe('');
    });
  });
}
