import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { framesOf, silence, voice } from './testing/sounds.ts';
import { createVoiceActivity, levelOf, type VoiceChange } from './voice-activity.ts';

/** Changes by the index of their frame. */
function changesIn(frames: readonly Buffer[]): [number, VoiceChange][] {
  const activity = createVoiceActivity();
  return frames.map((frame, at): [number, VoiceChange] => [at, activity.hear(frame)]).filter(([, change]) => change !== null);
}

test.each([-100, -60, -40, -20, -6, -3])('levelOf() measures a hum of %d dB', (db) => {
  expect(levelOf(framesOf(db)[0] as Buffer)).toBeCloseTo(db, 0);
});

test('detects a voice after 160 ms, and its end after 700 ms', () => {
  expect(changesIn([...silence(10), ...voice(50), ...silence(60)])).toEqual([
    [10 + 7, 'begin'],
    [10 + 50 + 34, 'end'],
  ]);
});

test('a pause between words does not end it', () => {
  expect(changesIn([...voice(20), ...silence(30), ...voice(20), ...silence(30)])).toEqual([[7, 'begin']]);
});

test('a click is not a voice', () => {
  expect(changesIn([...silence(5), ...voice(5), ...silence(20), ...voice(7), ...silence(40)])).toEqual([]);
});

test('adapts to the noise of a fan, and detects a person beside it', () => {
  const fan = framesOf(-35, 1200);
  const changes = changesIn([...fan, ...framesOf(-15, 40), ...framesOf(-35, 60)]);
  expect(changes.filter(([at]) => at >= 1200)).toEqual([
    [1207, 'begin'],
    [1200 + 40 + 34, 'end'],
  ]);
  expect(changes.filter(([at]) => at < 1200).at(-1)?.[1] ?? 'end').toBe('end');
});

describe('any sound', () => {
  const runs = fc.array(fc.record({ db: fc.integer({ min: -100, max: -1 }), count: fc.integer({ min: 1, max: 60 }) }), {
    maxLength: 12,
  });

  test('has alternating begins and ends, with their minimum durations', () => {
    fc.assert(
      fc.property(runs, (parts) => {
        const changes = changesIn(parts.flatMap(({ db, count }) => framesOf(db, count)));
        changes.forEach(([at, change], n) => {
          expect(change).toBe(n % 2 === 0 ? 'begin' : 'end');
          const [before] = changes[n - 1] ?? [-1];
          expect(at - before).toBeGreaterThanOrEqual(change === 'begin' ? 8 : 35);
        });
      }),
      { numRuns: 60 },
    );
  });

  test('below the threshold is never a voice', () => {
    const quiet = fc.array(fc.record({ db: fc.integer({ min: -100, max: -51 }), count: fc.integer({ min: 1, max: 60 }) }));
    fc.assert(
      fc.property(quiet, (parts) => {
        expect(changesIn(parts.flatMap(({ db, count }) => framesOf(db, count)))).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  test('louder than the noise before is detected within 160 ms', () => {
    fc.assert(
      fc.property(fc.integer({ min: -100, max: -45 }), fc.integer({ min: 40, max: 120 }), (db, count) => {
        const changes = changesIn([...framesOf(db, count), ...framesOf(-25, 8)]);
        expect(changes.at(-1)).toEqual([count + 7, 'begin']);
      }),
      { numRuns: 40 },
    );
  });
});
