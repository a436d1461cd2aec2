import { engineSessionOf, stateOf } from './connector.ts';
import type { Message } from './records.ts';
import type { PacedStep, Step } from './steps.ts';
import { keys, people, type World } from './world.ts';

type Actions = { [Name in Step['do']]: (world: World, step: Extract<Step, { do: Name }>) => void | Promise<void> };

let posted = 0;

const keyOf = (index: number): string => keys[index] ?? keys[0];
const pick = <Item>(list: readonly Item[], nth: number): Item | undefined => list[nth % Math.max(1, list.length)];

const actions: Actions = {
  handle({ records, connectors }, { key, sender, named, gathers, habit, link, streams, showing }) {
    const facts = {
      kind: 'message',
      key: keyOf(key),
      sender: people[sender] ?? people[0],
      isNamed: named,
      isGathered: gathers,
      habit,
    } as const;
    const message = records.add({ ...facts, isRouted: keyOf(key).startsWith('messenger') });
    connectors.handle(message, { isLink: link, streams, showing });
  },

  repeat(world, { nth, link, showing }) {
    const message = pick(
      world.records.messages.filter((one) => one.kind === 'message' && one.isNamed),
      nth,
    );
    if (message === undefined) return;
    takeAsNew(world, message);
    world.connectors.handle(message, { isLink: link, streams: true, showing });
  },

  stranger({ records, connectors }, { key }) {
    const facts = {
      kind: 'message',
      key: keyOf(key),
      sender: 'stranger',
      isNamed: true,
      isGathered: false,
      habit: 'quick',
    } as const;
    const message = records.add({ ...facts, isRouted: keyOf(key).startsWith('messenger') });
    connectors.handle(message, { isLink: true, streams: true, showing: 'now' });
  },

  leave({ connectors }, { nth }) {
    const ask = pick([...connectors.open(), ...connectors.unshown()], nth);
    if (ask !== undefined) connectors.leave(ask);
  },

  confirm({ connectors }, { nth, isShown }) {
    const ask = pick(connectors.unshown(), nth);
    if (ask !== undefined) connectors.show(ask, isShown);
  },

  abort(world, { key }) {
    abort(world, keyOf(key));
  },

  inject(world, { key, interrupt, habit }) {
    const { records, connectors, engine } = world;
    const target = keyOf(key);
    const facts = { kind: 'inject', key: target, sender: 'operator', isNamed: false, isGathered: false, habit } as const;
    const words = records.add({ ...facts, isRouted: target.startsWith('messenger') });
    words.mayBeOvertakenBy = engine.isRunning(target) ? 0 : 1;
    if (interrupt) for (const message of records.messages) message.wasAborted ||= message.key === target && message !== words;
    connectors.inject(words, interrupt);
  },

  async claim(world, { key }) {
    const { core, connectors } = world;
    const life = connectors.life();
    const releases = world.releases;
    const answer = await core.app.inject({
      method: 'POST',
      url: '/v2/claim',
      payload: { conversation_key: keyOf(key), by: 'me' },
    });
    const holds = connectors.life() === life && world.releases === releases;
    if (answer.statusCode === 200 && holds) world.claimed.add(keyOf(key));
  },

  async release(world, { key }) {
    world.claimed.delete(keyOf(key));
    world.releases++;
    await world.core.app.inject({ method: 'POST', url: '/v2/release', payload: { conversation_key: keyOf(key) } });
  },

  async announce(world, { key }) {
    const { core, records, connectors } = world;
    const life = connectors.life();
    const target = key === null ? '*' : keyOf(key);
    const text = `note ${++posted}.`;
    await core.context.announcements.post({ text, target, priority: 'normal', from_session: '' });
    if (connectors.life() === life) records.notes.push({ text, target, arrival: records.lastArrival(), seenBy: new Map() });
  },

  engine({ engine, records }, { nth, says }) {
    const run = pick(engine.unfinished(), nth);
    if (run === undefined) return;
    const message = records.find(run.name);
    if (says === 'word') run.say({ type: 'delta', text: 'a word ' });
    else if (says === 'throws') run.say('throw');
    else if (says === 'nothing') run.say('stop');
    else if (says === 'failed') run.say(failure(run.name));
    else {
      run.say({ type: 'delta', text: says === 'silent' ? '[[NO_REPLY]]' : run.reply });
      run.say({ type: 'done' });
    }
    for (const code of failures[says] ?? []) message?.failures.add(code);
  },

  wait: (world, { ms }) => world.pass(ms),
  channel: ({ channel }, { is }) => channel.become(is),
  answer: ({ channel }) => channel.answer(),

  async retry(world, { nth }) {
    const one = pick(world.rows<{ id: string }>(`SELECT id FROM delivery WHERE state <> 'delivered'`), nth);
    if (one !== undefined) await world.core.context.outbox.retry(one.id);
  },

  crash: (world, { backAfterMs }) => world.crash(backAfterMs),
};

const failures: Partial<Record<string, string[]>> = {
  failed: ['engine_failed'],
  throws: ['internal'],
  nothing: ['engine_crashed'],
};

const failure = (name: string) =>
  ({ type: 'failed', failure: { code: 'engine_failed', message: `the engine says no to ${name}`, retryable: false } }) as const;

/** Does one step; what it begins goes on while the next one is done. */
export async function act(world: World, step: PacedStep): Promise<void> {
  // The cast: each name has the action of its own step.
  const action = actions[step.do] as (world: World, step: Step) => void | Promise<void>;
  const done = action(world, step);
  if (step.do === 'crash' || step.do === 'wait') await done;
  else if (done !== undefined) done.catch((error: unknown) => world.records.rule(false, `${step.do}: ${String(error)}`));
  for (let job = 0; job < step.jobs; job++) await Promise.resolve();
  await world.ticks(step.ticks);
}

/** A message that the core has never had, or that failed, is a new one when it comes again. */
function takeAsNew({ records, core }: World, message: Message): void {
  if (core.context.pipeline.isLive(message.key, message.name)) return;
  const state = stateOf(core, message);
  if (state !== null && state !== 'failed') return;
  const wasAccepted = message.isKnown && message.sender !== 'stranger';
  records.rule(state !== null || !wasAccepted, `${message.name} was acknowledged and is not in the journal`);
  message.arrival = records.nextArrival();
  message.runsAccepted = [];
  message.runsThisLife = 0;
  message.isKnownToRun = false;
}

/** An abort that finds a turn at work ends it in silence. */
function abort({ records, engine, core, connectors }: World, key: string): void {
  const working = engine.working().find((run) => run.key === key);
  const engineSession = engineSessionOf(core, key);
  const isTold = core.context.pipeline.abort(key);
  records.rule(isTold || working === undefined, `nothing was in flight in ${key} while ${working?.name} ran`);
  if (!isTold) return;
  for (const message of records.messages) message.wasAborted ||= message.key === key;
  for (const ask of connectors.open()) {
    if (ask.message.name === working?.name) ask.abort = { life: ask.life, engineSession };
  }
}
