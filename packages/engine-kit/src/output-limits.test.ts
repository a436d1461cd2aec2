import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EngineEvent } from './engine.ts';
import { createOutputMeter } from './output-limits.ts';

const limits = { reply: 1000, tool: 100, turn: 100_000 };

const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ minLength: 900, maxLength: 1100 }),
  fc.constant('😀'.repeat(600)),
);
const event: fc.Arbitrary<EngineEvent> = fc.oneof(
  text.map((said) => ({ type: 'delta' as const, text: said })),
  text.map((said) => ({ type: 'segment' as const, text: said })),
  text.map((said) => ({ type: 'thinking' as const, text: said })),
  text.map((output) => ({ type: 'tool_result' as const, id: output, ok: true, output })),
  fc.json().map((input) => ({ type: 'tool' as const, id: 'x', name: 'y', input })),
);

test('passes a reply up to its limit exactly, however it is cut', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const meter = createOutputMeter(limits);
      let said = '';
      let out = '';
      let isOpen = false;
      for (const next of events) {
        const isReply = next.type === 'delta' || (next.type === 'segment' && !isOpen);
        if (next.type === 'delta' || next.type === 'segment') isOpen = next.type === 'delta';
        if (isReply) said += next.text;
        const { event: kept, exceeded } = meter.take(next);
        if (isReply && kept !== null && 'text' in kept) out += kept.text;
        if (exceeded !== null) break;
      }
      expect(out.length).toBeLessThanOrEqual(limits.reply);
      expect(said.startsWith(out)).toBe(true);
      expect(out.isWellFormed() || !said.isWellFormed()).toBe(true);
      if (said.length <= limits.reply) expect(out).toBe(said);
      else expect(out.length).toBeGreaterThanOrEqual(limits.reply - 1);
    }),
  );
});

test('ends a turn whose output exceeds its limit, whatever its kind', () => {
  const said = fc.oneof(
    text.map((thought) => ({ type: 'thinking' as const, text: thought })),
    text.map((output) => ({ type: 'tool_result' as const, id: 'x', ok: true, output })),
    text.map((input) => ({ type: 'tool' as const, id: 'x', name: 'y', input })),
    fc.constant({ type: 'notice' as const, code: 'retry' as const, message: '' }),
  );
  fc.assert(
    fc.property(fc.array(said, { minLength: 1, maxLength: 4 }), (round) => {
      const meter = createOutputMeter({ ...limits, turn: 10_000 });
      let rounds = 0;
      let total = 0;
      for (let isOver = false; !isOver; rounds++) {
        for (const next of round) {
          if (next.type !== 'notice') total += 'text' in next ? next.text.length : 0;
          isOver ||= meter.take(next).exceeded?.code === 'engine_output_too_large';
        }
        expect(rounds).toBeLessThan(200);
      }
      // Each event counts as 64 more characters; the one that reaches the limit is still taken.
      if (round.every(({ type }) => type === 'thinking')) expect(total + 64 * rounds * round.length).toBeGreaterThan(10_000);
    }),
  );
});

test('truncates a tool call of any size without ending the turn', () => {
  const meter = createOutputMeter({ ...limits, turn: 1e9 });
  const huge = 'x'.repeat(10_000_000);
  const { event: result, exceeded } = meter.take({ type: 'tool_result', id: huge, ok: true, output: huge });
  expect(exceeded).toBeNull();
  expect(JSON.stringify(result).length).toBeLessThan(70_000);
  const call = meter.take({ type: 'tool', id: huge, name: huge, input: { huge } });
  expect(JSON.stringify(call).length).toBeLessThan(70_000);
});

test('truncates deeply nested input, and replaces input that is not JSON', () => {
  let input: unknown = 1;
  for (let depth = 0; depth < 1_000_000; depth++) input = [input];
  const deep = createOutputMeter(limits).take({ type: 'tool', id: 'x', name: 'y', input });
  expect(JSON.stringify(deep).length).toBeLessThan(70_000);
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  expect(createOutputMeter(limits).take({ type: 'tool', id: 'x', name: 'y', input: cyclic }).event).toMatchObject({
    input: '(an input that cannot be shown)',
  });
});

test.each([Number.NaN, -5, Infinity, 1e300, '7', null, undefined])('counts %s tokens as 0', (value) => {
  const usage = {
    input_tokens: value as number,
    output_tokens: 3,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    estimated: false,
    cost_usd: value as number,
  };
  const { event: metered } = createOutputMeter(limits).take({ type: 'usage', usage });
  expect(metered).toMatchObject({ usage: { input_tokens: 0, output_tokens: 3, cost_usd: null } });
});

const noTokens = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, cost_usd: null };

test('passes on every count of a usage, with its parts', () => {
  const counts = {
    input_tokens: 1,
    output_tokens: 2,
    cache_read_tokens: 3,
    cache_write_tokens: 4,
    cache_write_1h_tokens: 5,
    thinking_tokens: 6,
  };
  const usage = { ...counts, estimated: false, cost_usd: 7, by_model: [{ ...counts, model: 'm', cost_usd: 7 }] };
  expect(createOutputMeter(limits).take({ type: 'usage', usage }).event).toEqual({ type: 'usage', usage });
});

test('sanitizes the usage per model and bounds the names of models', () => {
  const by_model = [{ ...noTokens, model: 'm'.repeat(1000), input_tokens: Number.NaN, output_tokens: 2, cost_usd: -1 }];
  const { event } = createOutputMeter(limits).take({ type: 'usage', usage: { ...noTokens, estimated: false, by_model } });
  const [part] = event?.type === 'usage' ? (event.usage.by_model ?? []) : [];
  expect(part).toMatchObject({ input_tokens: 0, output_tokens: 2, cost_usd: null });
  expect(part?.model.length).toBeLessThanOrEqual(256);
});

test('joins too many models into one without a price', () => {
  const by_model = Array.from({ length: 1000 }, (_, i) => ({ ...noTokens, model: `m${i}`, cost_usd: 1 }));
  const usage = { ...noTokens, input_tokens: 1000, estimated: false, by_model };
  const { event } = createOutputMeter(limits).take({ type: 'usage', usage });
  expect(event).toMatchObject({ usage: { by_model: [{ model: 'many models', input_tokens: 1000, cost_usd: null }] } });
});

test('bounds the name of the model and the message of a failure', () => {
  const long = 'm'.repeat(1_000_000);
  const meter = createOutputMeter(limits);
  const session = meter.take({ type: 'session', engineSessionId: 's', resumed: false, model: long });
  expect(JSON.stringify(session).length).toBeLessThan(1000);
  const failed = meter.take({ type: 'failed', failure: { code: 'engine_failed', message: long, retryable: false } });
  expect(JSON.stringify(failed).length).toBeLessThan(10_000);
});

test('truncates an input of long texts as if its JSON had been cut', () => {
  const max = limits.tool + 64 * 1024;
  const rule = fc.property(fc.array(fc.integer({ min: 0, max: 2 * max }), { minLength: 1, maxLength: 3 }), (lengths) => {
    const input = { texts: lengths.map((length) => '"\n'.repeat(length / 2)), end: 1 };
    const json = JSON.stringify(input);
    const { event: kept } = createOutputMeter({ ...limits, turn: 1e9 }).take({ type: 'tool', id: 'x', name: 'y', input });
    expect(kept).toMatchObject({ input: json.length <= max ? input : json.slice(0, max) });
  });
  fc.assert(rule, { numRuns: 50 });
});
