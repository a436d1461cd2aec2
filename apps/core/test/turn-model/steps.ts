import fc from 'fast-check';

/** How a connector treats an answer. `late`: it takes its time to say; `lost`: its link breaks before the answer is there. */
export type Showing = 'now' | 'late' | 'cannot' | 'lost';

/** How the engine treats a message. A deaf one does not listen when it is told to end. */
export type Habit = 'quick' | 'slow' | 'deaf';

export type Step =
  | {
      do: 'handle';
      key: number;
      sender: number;
      link: boolean;
      named: boolean;
      streams: boolean;
      gathers: boolean;
      showing: Showing;
      habit: Habit;
    }
  | { do: 'repeat'; nth: number; link: boolean; showing: Showing }
  | { do: 'stranger'; key: number }
  | { do: 'leave'; nth: number }
  | { do: 'confirm'; nth: number; isShown: boolean }
  | { do: 'abort'; key: number }
  | { do: 'inject'; key: number; interrupt: boolean; habit: Habit }
  | { do: 'claim'; key: number }
  | { do: 'release'; key: number }
  | { do: 'announce'; key: number | null }
  | { do: 'engine'; nth: number; says: 'word' | 'done' | 'silent' | 'failed' | 'throws' | 'nothing' }
  | { do: 'wait'; ms: number }
  | { do: 'channel'; is: 'up' | 'away' | 'refusing' | 'slow' }
  | { do: 'answer' }
  | { do: 'retry'; nth: number }
  /** Connectors find the new core after a while. */
  | { do: 'crash'; backAfterMs: number };

/** A step, and how far the service gets before the next one: turns of the event loop, then promise jobs. */
export type PacedStep = Step & { ticks: number; jobs: number };

const key = fc.nat({ max: 2 });
const nth = fc.nat({ max: 30 });
const showing = fc.constantFrom<Showing[]>('now', 'now', 'late', 'cannot', 'lost');
const habit = fc.constantFrom<Habit[]>('quick', 'slow', 'slow', 'deaf');
const is = <const Name extends string>(name: Name) => fc.constant(name);

const handle = fc.record({
  do: is('handle'),
  key,
  sender: fc.nat({ max: 1 }),
  link: fc.boolean(),
  named: fc.integer({ min: 1, max: 6 }).map((n) => n > 1),
  streams: fc.boolean(),
  gathers: fc.integer({ min: 1, max: 5 }).map((n) => n === 1),
  showing,
  habit,
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: handle },
  { weight: 4, arbitrary: fc.record({ do: is('repeat'), nth, link: fc.boolean(), showing }) },
  { weight: 1, arbitrary: fc.record({ do: is('stranger'), key }) },
  { weight: 2, arbitrary: fc.record({ do: is('leave'), nth }) },
  { weight: 3, arbitrary: fc.record({ do: is('confirm'), nth, isShown: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: is('abort'), key }) },
  { weight: 4, arbitrary: fc.record({ do: is('inject'), key, interrupt: fc.boolean(), habit }) },
  { weight: 2, arbitrary: fc.record({ do: is('claim'), key }) },
  { weight: 3, arbitrary: fc.record({ do: is('release'), key }) },
  { weight: 3, arbitrary: fc.record({ do: is('announce'), key: fc.option(key) }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: is('engine'),
      nth,
      says: fc.constantFrom('word', 'done', 'done', 'silent', 'failed', 'throws', 'nothing'),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: is('wait'), ms: fc.constantFrom(20, 400, 2100, 5100, 61_000) }) },
  { weight: 3, arbitrary: fc.record({ do: is('channel'), is: fc.constantFrom('up', 'away', 'refusing', 'slow') }) },
  { weight: 2, arbitrary: fc.record({ do: is('answer') }) },
  { weight: 1, arbitrary: fc.record({ do: is('retry'), nth }) },
  { weight: 3, arbitrary: fc.record({ do: is('crash'), backAfterMs: fc.constantFrom(0, 0, 12_000) }) },
);

const pace = fc.record({ ticks: fc.constantFrom(0, 0, 1, 2, 4), jobs: fc.nat({ max: 12 }) });

export const paths: fc.Arbitrary<PacedStep[]> = fc.array(
  fc.tuple(step, pace).map(([one, paced]) => ({ ...one, ...paced })),
  { minLength: 1, maxLength: 40, size: 'max' },
);
