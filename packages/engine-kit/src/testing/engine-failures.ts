import { afterAll, describe, expect, onTestFailed, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { listen } from '@svc/testing/listen.ts';
import type { ScriptedReply } from '@svc/testing/model-server/scripted-reply.ts';
import type { EngineEvent, EngineFailure } from '../engine.ts';
import { collectTurn } from './collect-turn.ts';
import type { EngineBench, StartedEngine } from './engine-bench.ts';
import { engineRequest } from './engine-request.ts';

/** An error response of the vendor as documented, and the message that a person gets. */
export type UpstreamError = {
  name: string;
  reply: Extract<ScriptedReply, { status: number }>;
  code: EngineFailure['code'];
  says: RegExp;
  /** When the limit ends, s from now, if the vendor names a time. */
  endsIn?: number;
};

/** A limit of one hour that only a header reports. */
export const hourLimit: UpstreamError = {
  name: 'a limit in a header alone',
  reply: { status: 429, kind: 'rate_limit_error', message: 'Slow down', headers: { 'retry-after': '3600' } },
  code: 'engine_rate_limited',
  says: /Slow down\. The usage limit of this account is reached\. Try again in (60 min|1 h)/,
  endsIn: 3600,
};

/** An error with a long wait, which a program would otherwise observe in silence. */
export const longWait: UpstreamError = {
  name: 'an error with a long wait',
  reply: { status: 500, kind: 'api_error', message: 'Internal server error', headers: { 'retry-after': '60' } },
  code: 'engine_endpoint_down',
  says: /Try again/,
};

export const serviceError: UpstreamError = {
  name: 'an error on the side of the service',
  reply: { status: 500, kind: 'api_error', message: 'Internal server error' },
  code: 'engine_endpoint_down',
  says: /Internal server error.*Try again/,
};

/** Replies whose stream breaks off, before and after the first words. Call it in a `describe`. */
export function testCutReplies(bench: EngineBench, beginnings: readonly string[]): void {
  describe('replies that break off', () => {
    let sent = '';
    let server: ReturnType<typeof listen> | null = null;
    const open = () =>
      listen(
        http.createServer((incoming, response) => {
          incoming.resume();
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(sent, () => setTimeout(() => response.destroy(), 50));
        }),
      );
    afterAll(async () => (await server)?.close());
    const turn = inOneConversation(bench, async () => (await (server ??= open())).url);
    test.each(beginnings)('a reply that breaks off after %j is one retryable failure with a plain message', async (beginning) => {
      sent = beginning;
      const last = await turn();
      expect(last).toMatchObject({ type: 'failed', failure: { code: 'engine_endpoint_down', retryable: true } });
      expect(JSON.stringify(last)).not.toMatch(/ede_|terminated|\\u001b|YOLO|\/tmp\//);
    });
  });
}

/** Less than the timeout of a silent engine, but enough on a busy machine, ms. */
const patienceMs = 30_000;

/** How the errors of the model service are distinguished. Call it in a `describe`. */
export function testUpstreamErrors(bench: EngineBench, errors: readonly UpstreamError[]): void {
  describe('errors of the model service', () => {
    const turn = inOneConversation(bench, () => bench.model.url);
    test.each(errors)(
      '$name: the turn fails as $code, with a message that says what to do',
      async ({ reply, code, says, endsIn }) => {
        bench.model.script(() => reply);
        const last = await turn();
        expect(last).toMatchObject({ type: 'failed', failure: { code, message: expect.stringMatching(says) } });
        const retryAfterMs = last?.type === 'failed' ? last.failure.retryAfterMs : undefined;
        if (endsIn === undefined) expect(retryAfterMs).toBeUndefined();
        // The end is a fixed time, and earlier tests took some of it.
        else expect(Math.abs((retryAfterMs ?? 0) - endsIn * 1000)).toBeLessThan(Math.max(patienceMs, endsIn * 100));
      },
    );
  });
}

/**
 * Turns of one conversation, which return their last event: a program that stays open serves all of them. After a failed test, the next one
 * begins another conversation with another engine. Call it in a `describe` of its own, which ends the engine.
 */
function inOneConversation(bench: EngineBench, baseUrl: () => string | Promise<string>): () => Promise<EngineEvent | undefined> {
  let started: StartedEngine | null = null;
  let resume: string | null = null;
  const close = async () => {
    const ending = started;
    started = resume = null;
    await ending?.engine.close();
  };
  afterAll(close);
  return async () => {
    onTestFailed(close);
    const { engine, request } = (started ??= bench.open({ baseUrl: await baseUrl() }));
    const before = performance.now();
    const { last, sessionId } = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request, resume }));
    expect(performance.now() - before).toBeLessThan(patienceMs);
    resume = sessionId ?? resume;
    return last;
  };
}

/** The end of a limit, epoch s. */
export const inSeconds = (seconds: number): number => Math.round(Date.now() / 1000) + seconds;
