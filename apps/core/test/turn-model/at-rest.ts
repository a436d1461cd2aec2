import type { Message } from './records.ts';
import { keys, type World } from './world.ts';

/** Lets everything come to its end: the engine answers, connectors say what they have shown, the channel is up, time passes. */
export async function comeToRest(world: World): Promise<void> {
  const { engine, channel, connectors, core } = world;
  engine.automatic();
  for (let round = 0; round < 60; round++) {
    channel.become('up');
    channel.answer();
    for (const run of engine.unfinished()) {
      run.say({ type: 'delta', text: run.reply });
      run.say({ type: 'done' });
    }
    for (const ask of connectors.unshown()) connectors.show(ask);
    await world.pass(round < 3 ? 2100 : 400_000);
    if (isAtRest(core) && connectors.open().length === 0) return;
  }
}

const isAtRest = ({ context }: World['core']): boolean =>
  context.pipeline.counts().running +
    context.pipeline.counts().waiting +
    context.pipeline.pendingAcks.count() +
    context.outbox.counts().pending ===
  0;

/** What must hold when everything has ended: nothing is held any more, nothing that was accepted is lost. */
export function checkAtRest(world: World): void {
  const { core, records, channel } = world;
  const { pipeline, outbox } = core.context;
  const { rule } = records;
  const held = {
    ...pipeline.counts(),
    live: pipeline.liveCount(),
    pendingAcks: pipeline.pendingAcks.count(),
    deliveries: outbox.counts().pending,
  };
  rule(
    Object.values(held).every((count) => count === 0),
    `still held: ${JSON.stringify(held)}`,
  );
  for (const key of keys) rule(!pipeline.isBusy(key), `${key} is not idle`);
  rule(world.rows('SELECT 1 FROM turn WHERE open = 1').length === 0, 'turns are open in the journal');
  const given = world.rows<{ id: string }>(`SELECT id FROM delivery WHERE state = 'failed' AND instance_id IS NOT NULL`);
  for (const { id } of given) rule(channel.hasRefused(id), `${id} was given up and the channel had not refused it`);
  const twice = world.rows('SELECT turn_id FROM delivery GROUP BY turn_id HAVING count(*) > 1');
  rule(twice.length === 0, `${twice.length} turns were put into the outbox twice`);
  for (const ask of records.asks()) rule(ask.state !== 'open', `${ask.message.name} was never answered`);
  for (const message of records.messages) checkMessage(world, message);
}

type Ending = { state: string; result: string | null; error: string | null; id: string };

/** How the journal says that a message ended: its own row, or the one that it was merged into. */
function endingOf({ rows }: World, { key, name, isNamed }: Message): Ending | undefined {
  const select = 'SELECT id, state, result, error FROM turn WHERE conversation_key = ?';
  return isNamed
    ? rows<Ending>(`${select} AND message_id = ?`, key, name)[0]
    : rows<Ending>(`${select} AND (text = ? OR text LIKE ?)`, key, name, `%\n${name}`)[0];
}

function checkMessage(world: World, message: Message): void {
  const { name, asks, sender, isKnown, kind, isRouted } = message;
  const { rule } = world.records;
  const ending = endingOf(world, message);
  if (sender === 'stranger') return rule(ending === undefined, `${name} of a stranger is in the journal`);
  const isRefused = asks.every(({ error }) => ['queue_full', 'not_found', 'conflict'].includes(error ?? ''));
  if (ending === undefined) return rule(!isKnown || isRefused, `${name} was acknowledged and is lost`);
  const outcome = ending.result === null ? null : (JSON.parse(ending.result) as { outcome: string }).outcome;
  const shown = message.shown.length + pushed(world, message);
  if (outcome !== 'replied') rule(shown === 0, `${name} ended as ${outcome} and the channel shows a reply`);
  if (outcome === null) return checkFailed(world, message, ending);
  if (outcome !== 'replied' || !isRouted) return;
  const isListed = world.rows(`SELECT 1 FROM delivery WHERE turn_id = ? AND state = 'failed'`, ending.id).length > 0;
  rule(shown > 0 || isListed, `the reply to ${name} is nowhere`);
  rule(shown <= mayShow(message), `the reply to ${name} is shown ${shown} times`);
  rule(kind === 'message' || shown <= 1, `the reply to the operator's ${name} is shown ${shown} times`);
}

const pushed = ({ channel }: World, { name }: Message): number =>
  channel.texts().filter((text) => text.endsWith(` to ${name}.`)).length;

/** Everybody who asks may show the answer. Who shows it late, or does not report after a crash, has it pushed as well. */
const mayShow = ({ asks, isUnheard }: Message): number =>
  asks.length + (isUnheard || asks.some(({ isLink, showing }) => !isLink || showing === 'late') ? 1 : 0);

/** A caller was told of the failure, or the operator can read of it. */
function checkFailed(world: World, { asks, name }: Message, { id }: Ending): void {
  const wasTold = asks.some(({ state }) => state === 'failed');
  const isListed = world.rows('SELECT 1 FROM delivery WHERE turn_id = ?', id).length > 0;
  world.records.rule(wasTold || isListed, `${name} failed and nobody was told`);
}
