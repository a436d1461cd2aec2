import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCountingClock, createFakeSpawner } from '../test/fakes.ts';
import { crashLimit, type ChildSpec, type ChildState } from './child-spec.ts';
import { stableMs } from './restart-policy.ts';
import { createSupervisedChild } from './supervised-child.ts';

const spec: ChildSpec = {
  name: 'sample',
  entry: '/none',
  env: {},
  startTimeoutMs: 10_000,
  stopTimeoutMs: 5_000,
  giveUp: () => ({ ...crashLimit, exitCodes: [78] }),
  greeting: () => ({ type: 'hello' }),
};

function setUp(over: Partial<ChildSpec> = {}, mask?: (text: string) => string) {
  const clock = createCountingClock();
  const spawner = createFakeSpawner();
  const states: ChildState[] = [];
  const messages: unknown[] = [];
  const child = createSupervisedChild(
    { ...spec, ...over },
    {
      clock,
      spawn: spawner.spawn,
      random: () => 0.5,
      mask,
      onState: (state) => states.push(state),
      onMessage: (message) => messages.push(message),
    },
  );
  const last = () => spawner.processes.at(-1)!;
  const ready = (fields = {}) => last().listener.onMessage({ type: 'ready', ...fields });
  const say = (text: string) => last().listener.onOutput('stderr', Buffer.from(`${text}\n`));
  return { clock, spawner, states, messages, child, last, ready, say };
}

describe('supervised child', () => {
  test('is greeted, and is running once it reports ready', async () => {
    const { child, last, ready } = setUp();
    const started = child.start();
    expect(child.state.status).toBe('starting');
    expect(last().sent).toEqual([{ type: 'hello' }]);
    ready({ port: 4000 });
    expect(await started).toMatchObject({ status: 'running', pid: last().pid, ready: { port: 4000 }, restarts: 0 });
  });

  test('passes the exit of a process to the next one', () => {
    const { child, clock, last } = setUp({ env: { A: '1' }, lastExitVariable: 'LAST' });
    void child.start();
    expect(last().spec.env).toEqual({ A: '1' });
    last().exit(null, 'SIGABRT');
    clock.advance(60_000);
    expect(last().spec.env).toEqual({ A: '1', LAST: 'SIGABRT' });
    last().exit(1);
    clock.advance(60_000);
    expect(last().spec.env).toEqual({ A: '1', LAST: '1' });
  });

  test('passes on other messages, and sends messages to the process', () => {
    const { child, last, messages } = setUp();
    expect(child.send({ type: 'x' })).toBe(false);
    void child.start();
    last().listener.onMessage({ type: 'heartbeat' });
    expect(messages).toEqual([{ type: 'heartbeat' }]);
    expect(child.send({ type: 'x' })).toBe(true);
  });

  test('restarts at once after a stable run, and backs off while it crashes', () => {
    const { child, clock, last, ready, spawner } = setUp();
    void child.start();
    ready();
    clock.advance(stableMs);
    last().exit(1);
    clock.advance(0);
    expect(spawner.processes).toHaveLength(2);
    const delays: number[] = [];
    for (let i = 0; i < 4; i++) {
      last().exit(1);
      expect(child.state.status).toBe('backoff');
      delays.push(child.state.nextStartAt! - clock.now());
      clock.advance(delays.at(-1)!);
      expect(child.state.status).toBe('starting');
    }
    expect(delays).toEqual([100, 200, 400, 800]);
    expect(child.state.restarts).toBe(5);
  });

  test('fails after more than five exits within a minute, with the last error of its log', () => {
    const { child, clock, last, say, spawner } = setUp();
    void child.start();
    for (let i = 0; i < 6; i++) {
      say(`Error: no luck ${i}`);
      say('    at somewhere.js:1');
      last().exit(1);
      clock.advance(5000);
    }
    expect(child.state).toMatchObject({ status: 'failed', pid: null });
    expect(child.state.lastExit?.reason).toBe('ended with exit code 1: Error: no luck 5 (gave up after 6 exits within 60 s)');
    clock.advance(1_000_000);
    expect(spawner.processes).toHaveLength(6);
    expect(clock.pending).toBe(0);
  });

  test('restarts without end and with growing delays when there is no limit, and shows the next start', () => {
    const { child, clock, last, spawner } = setUp({ giveUp: undefined });
    void child.start();
    const delays: number[] = [];
    for (let i = 1; i <= 100; i++) {
      last().exit(null, 'SIGKILL');
      expect(child.state).toMatchObject({ status: 'backoff', failures: i });
      delays.push(child.state.nextStartAt! - clock.now());
      clock.advance(delays.at(-1)!);
    }
    expect(spawner.processes).toHaveLength(101);
    expect(delays.slice(0, 6)).toEqual([100, 200, 400, 800, 1600, 3200]);
    expect(delays.slice(-90).every((ms) => ms === 50_000)).toBe(true);
  });

  test('is not considered stable because the clock was set forward', () => {
    const { child, clock, last, ready } = setUp({ giveUp: undefined });
    void child.start();
    for (let i = 1; i <= 3; i++) {
      ready();
      clock.setBack(-3_600_000);
      last().exit(1);
      expect(child.state.failures).toBe(i);
      clock.advance(60_000);
    }
  });

  test('kill() ends it at once with a reason, and it restarts', () => {
    const { child, clock, last, ready, spawner } = setUp();
    child.kill('nobody is there');
    void child.start();
    ready();
    child.kill('used more than 5 MB');
    expect(last().killed).toBe(true);
    last().exit(null, 'SIGKILL');
    expect(child.state).toMatchObject({ status: 'backoff', lastExit: { reason: 'used more than 5 MB' } });
    clock.advance(1000);
    expect(spawner.processes).toHaveLength(2);
    last().exit(null, 'SIGKILL');
    expect(child.state.lastExit?.reason).toBe('was ended by SIGKILL');
  });

  test('restarts without end when exits are rare', () => {
    const { child, clock, last, ready } = setUp();
    void child.start();
    for (let i = 0; i < 50; i++) {
      ready();
      clock.advance(stableMs);
      last().exit(1);
      clock.advance(0);
      expect(child.state.status).toBe('starting');
    }
  });

  test('fails at once after a fatal exit code', () => {
    const { child, last } = setUp();
    void child.start();
    last().exit(78);
    expect(child.state.status).toBe('failed');
    expect(child.state.lastExit?.reason).toContain('exit code 78');
  });

  test('a start by a person resets the count of exits', () => {
    const { child, clock, last } = setUp();
    void child.start();
    for (let i = 0; i < 6; i++) {
      last().exit(1);
      clock.advance(5000);
    }
    void child.start();
    last().exit(1);
    expect(child.state.status).toBe('backoff');
    expect(child.state.nextStartAt! - clock.now()).toBe(100);
  });

  test('shows the reason that the child reported', () => {
    const { child, last } = setUp();
    void child.start();
    last().listener.onMessage({ type: 'failed', message: 'Port 3025 is in use.' });
    last().exit(1);
    expect(child.state.lastExit?.reason).toBe('Port 3025 is in use.');
  });

  test('masks secrets in that reason', () => {
    const { child, last } = setUp({}, (text) => text.replaceAll('hunter2', '[redacted]'));
    void child.start();
    last().listener.onMessage({ type: 'failed', message: 'The token hunter2 was refused.' });
    last().exit(1);
    expect(child.state.lastExit?.reason).toBe('The token [redacted] was refused.');
  });

  test('ignores output of the previous process in the reason', () => {
    const { child, clock, last, say } = setUp();
    void child.start();
    say('Error: the old one');
    last().exit(1);
    clock.advance(200);
    last().exit(null, 'SIGKILL');
    expect(child.state.lastExit?.reason).toBe('was ended by SIGKILL');
  });

  test('is killed and restarted when it is not ready in time', () => {
    const { child, clock, last } = setUp();
    void child.start();
    clock.advance(10_000);
    expect(last().killed).toBe(true);
    last().exit(null, 'SIGKILL');
    expect(child.state).toMatchObject({ status: 'backoff', lastExit: { reason: 'was not ready within 10 s' } });
  });

  test('stop() asks it to stop, and kills its group at the timeout', async () => {
    const { child, clock, last, ready } = setUp();
    void child.start();
    ready();
    const stopped = child.stop();
    expect(last().sent.at(-1)).toEqual({ type: 'stop' });
    expect(last().asked).toBe(true);
    clock.advance(4_999);
    expect(last().killed).toBe(false);
    clock.advance(1);
    expect(last().killed).toBe(true);
    last().exit(null, 'SIGKILL');
    await stopped;
    expect(child.state).toMatchObject({ status: 'stopped', pid: null, startedAt: null });
    expect(clock.pending).toBe(0);
  });

  test('stop() during a backoff prevents the next start', async () => {
    const { child, clock, last, spawner } = setUp();
    void child.start();
    last().exit(1);
    await child.stop();
    clock.advance(100_000);
    expect(child.state).toMatchObject({ status: 'stopped', nextStartAt: null });
    expect(spawner.processes).toHaveLength(1);
  });

  test('restart() starts a new process only after the old one has ended', async () => {
    const { child, last, ready, spawner } = setUp();
    void child.start();
    ready();
    const restarted = child.restart();
    expect(spawner.processes).toHaveLength(1);
    last().exit(0);
    expect(spawner.processes).toHaveLength(2);
    ready();
    expect((await restarted).status).toBe('running');
    expect(child.state.restarts).toBe(0);
  });

  test('is killed at the timeout even if start() is called while it stops', () => {
    const { child, clock, last, ready } = setUp();
    void child.start();
    ready();
    void child.stop();
    void child.start();
    clock.advance(5_000);
    expect(last().killed).toBe(true);
  });
});

type Command = { name: string; weight: number; run(world: ReturnType<typeof setUp>, wants: { running: boolean }): void };

/** Everything that can happen to a child, in any order. */
const commands: Command[] = [
  { name: 'start', weight: 3, run: ({ child }, wants) => void (child.start(), (wants.running = true)) },
  { name: 'restart', weight: 2, run: ({ child }, wants) => void (child.restart(), (wants.running = true)) },
  { name: 'stop', weight: 2, run: ({ child }, wants) => void (child.stop(), (wants.running = false)) },
  { name: 'ready', weight: 4, run: ({ spawner, ready }) => void (spawner.alive().length > 0 && ready()) },
  { name: 'exit 1', weight: 4, run: ({ spawner }) => spawner.alive()[0]?.exit(1) },
  { name: 'exit 78', weight: 1, run: ({ spawner }) => spawner.alive()[0]?.exit(78) },
  { name: 'a moment', weight: 3, run: ({ clock }) => clock.advance(150) },
  { name: 'a while', weight: 3, run: ({ clock }) => clock.advance(20_000) },
];

describe('supervised child in any sequence of events', () => {
  test('has at most one process, which exists or is due exactly when it should', () => {
    const step = fc.oneof(...commands.map((command) => ({ weight: command.weight, arbitrary: fc.constant(command) })));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (run) => {
        const world = setUp();
        const wants = { running: false };
        for (const command of run) {
          command.run(world, wants);
          const { status, pid, nextStartAt } = world.child.state;
          const alive = world.spawner.alive();
          expect(alive.length).toBeLessThanOrEqual(1);
          expect(pid).toBe(alive[0]?.pid ?? null);
          expect(['starting', 'running'].includes(status)).toBe(alive.length === 1);
          expect(nextStartAt !== null).toBe(status === 'backoff');
          if (!wants.running) expect(status === 'stopped' || alive[0]?.asked === true).toBe(true);
          if (wants.running) expect(status).not.toBe('stopped');
          // Something always leads on: a timer, the process itself, or a person.
          if (status === 'backoff') expect(world.clock.pending).toBe(1);
          if (status === 'stopped' || status === 'failed') expect(world.clock.pending).toBe(0);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('settles every start() and stop() once the process has ended', async () => {
    const step = fc.constantFrom(...commands);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (run) => {
        const world = setUp();
        const answers: Promise<unknown>[] = [];
        for (const command of run) {
          if (command.name === 'start') answers.push(world.child.start());
          else if (command.name === 'stop') answers.push(world.child.stop());
          else command.run(world, { running: true });
        }
        answers.push(world.child.stop());
        world.spawner.alive()[0]?.exit(0);
        await Promise.all(answers);
        expect(world.child.state.status).toBe('stopped');
        expect(world.clock.pending).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});
