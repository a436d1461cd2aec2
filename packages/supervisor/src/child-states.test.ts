import { describe, expect, test } from 'vitest';
import { hasProcess, transitions, type ChildEvent, type Phase } from './child-states.ts';

const phases = Object.keys(transitions) as Phase[];
const steps = phases.flatMap((from) =>
  Object.entries(transitions[from]).map(([event, step]) => ({ from, event: event as ChildEvent, ...step })),
);

describe('child state table', () => {
  test('matches its snapshot', () => {
    expect(steps.map(({ from, event, to, effects }) => `${from} + ${event} → ${[to, ...effects].join(', ')}`))
      .toMatchInlineSnapshot(`
      [
        "stopped + start → starting, forget, spawn",
        "stopped + restart → starting, forget, spawn",
        "starting + ready → running",
        "starting + exit → backoff, wait",
        "starting + fatal-exit → failed",
        "starting + start-timeout → starting, kill",
        "starting + stop → stopping, end",
        "starting + restart → restarting, end",
        "running + exit → backoff, wait",
        "running + fatal-exit → failed",
        "running + stop → stopping, end",
        "running + restart → restarting, end",
        "stopping + exit → stopped",
        "stopping + fatal-exit → stopped",
        "stopping + stop-timeout → stopping, kill",
        "stopping + start → restarting",
        "stopping + restart → restarting",
        "restarting + exit → starting, forget, spawn",
        "restarting + fatal-exit → starting, forget, spawn",
        "restarting + stop-timeout → restarting, kill",
        "restarting + stop → stopping",
        "backoff + due → starting, spawn",
        "backoff + start → starting, forget, spawn",
        "backoff + restart → starting, forget, spawn",
        "backoff + stop → stopped",
        "failed + start → starting, forget, spawn",
        "failed + restart → starting, forget, spawn",
        "failed + stop → stopped",
      ]
    `);
  });

  test.each(phases)('stop leads from %s to stopped or stopping', (phase) => {
    const to = transitions[phase].stop?.to ?? phase;
    expect(['stopped', 'stopping']).toContain(to);
  });

  test.each(phases)('start and restart are never ignored without a process (%s)', (phase) => {
    if (hasProcess(phase)) return;
    expect(transitions[phase].start).toEqual({ to: 'starting', effects: ['forget', 'spawn'] });
    expect(transitions[phase].restart).toEqual(transitions[phase].start);
  });

  test('spawns only when no process is left, and never loses track of one', () => {
    for (const { from, event, to, effects } of steps) {
      const gone = event === 'exit' || event === 'fatal-exit';
      if (effects.includes('spawn')) expect(gone || !hasProcess(from), `${from} + ${event}`).toBe(true);
      expect(hasProcess(to), `${from} + ${event}`).toBe((hasProcess(from) && !gone) || effects.includes('spawn'));
    }
  });

  test('every phase is reachable from every other', () => {
    const reach = (start: Phase) => {
      const seen = new Set([start]);
      for (const phase of seen) for (const step of Object.values(transitions[phase])) seen.add(step.to);
      return seen;
    };
    for (const phase of phases) expect([...reach(phase)].sort()).toEqual([...phases].sort());
  });
});
