import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createCoreLink } from '@svc/connector-kit/core-link.ts';
import type { Ask, AskAnswer } from '@svc/contract/ask.ts';
import type { LinkReply } from '@svc/contract/link.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { says } from '@svc/testing/scripted-engine.ts';
import { openLinkServer, type LinkServer } from '../src/turn/link-server.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

const key = 'shop:s1:user:anna';
const as = { channel: 'shop', sender: { raw_id: 'anna' } };
const question = {
  text: 'Go on?',
  options: [
    { id: 'yes', label: 'Yes' },
    { id: 'no', label: 'No' },
  ],
};

let core: TestCore;
let link: LinkServer;
let file: string;
beforeEach(async () => {
  core = await openTestCore();
  core.engine.script(async function* (request) {
    yield* says((await request.ask?.(question))?.outcome ?? 'nobody');
  });
  file = path.join(core.folder, 'run/core.sock');
  link = await openLinkServer(core.context, file);
  await core.addPrincipal('anna', 'known', 'shop');
  await core.addPrincipal('bo', 'known', 'shop');
  await core.addPrincipal('boss', 'owner', 'compat');
  const role = { name: 'known', tier: 'KNOWN', tool_policy: 'read', asks: 'dangerous' };
  await core.app.inject({ method: 'POST', url: '/trust/roles', payload: role });
});
afterEach(async () => {
  await link.close();
  await core.close();
});

const passOf = (type: string, instanceId: string) => core.context.connectorPasses.issue({ type, instanceId }).reveal();

function openKit(type = 'shop', instanceId = 's1') {
  const kit = createCoreLink({ socketPath: file, pass: passOf(type, instanceId), clock: systemClock, log: () => undefined });
  onTestFinished(() => kit.close());
  return kit;
}

/** A turn of Anna over the link of a connector that can show questions. */
function begin(kit: ReturnType<typeof openKit>) {
  const shown = Promise.withResolvers<Ask>();
  const asked: AskAnswer[] = [];
  const envelope = { ...as, conversation_key: key, message_id: 'm1', content: { text: 'hi' } };
  const handlers = { onAsk: shown.resolve, onAsked: (_id: string, answer: AskAnswer) => void asked.push(answer) };
  const reply = kit.handleStream(envelope, handlers).then(({ actions }) => actions[0]?.text);
  return { ask: shown.promise, asked, reply };
}

describe('connector link', () => {
  test('shows a question and passes on one answer', async () => {
    const kit = openKit();
    const turn = begin(kit);
    const { id } = await turn.ask;
    const answers = await Promise.allSettled(
      ['yes', 'no'].map((option) => kit.answer(id, { as, conversation_key: key, option })),
    );
    expect(answers).toMatchObject([
      { value: { ask_id: id, option: 'yes', label: 'Yes' } },
      { status: 'rejected', reason: { code: 'conflict' } },
    ]);
    expect([await turn.reply, turn.asked]).toEqual(['answered', [{ option: 'yes', outcome: 'answered' }]]);
  });

  test('does not wait for an answer when the connector shows no questions', async () => {
    const envelope = { ...as, conversation_key: key, content: { text: 'hi' } };
    expect((await openKit().handleStream(envelope, { onDelta: () => undefined })).actions[0]?.text).toBe('unseen');
    expect((await openKit().handle(envelope)).actions[0]?.text).toBe('unseen');
  });

  test('rejects and reports answers from other instances and channels', async () => {
    const turn = begin(openKit());
    const { id } = await turn.ask;
    const [other, twin] = [openKit('compat', 'c1'), openKit('shop', 's2')];
    const boss = { channel: 'compat', sender: { raw_id: 'boss' } };
    for (const [kit, answer] of [
      [other, { as: boss, conversation_key: key }],
      [other, { as, conversation_key: key }],
      [other, { as, conversation_key: 'compat:c1:x' }],
      [twin, { as, conversation_key: key }],
    ] as const)
      await expect(kit.answer(id, { ...answer, option: 'yes' })).rejects.toMatchObject({ code: 'forbidden' });
    // In the twin's own conversations there is no such question.
    await expect(twin.answer(id, { as, conversation_key: 'shop:s2:x', option: 'yes' })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(
      openKit().answer(id, { as: { ...as, sender: { raw_id: 'bo' } }, conversation_key: key, option: 'yes' }),
    ).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect(core.telemetry.events.filter(({ payload }) => payload?.['what'] === 'impersonation')).toHaveLength(4);
    expect(core.context.asks.list()).toHaveLength(1);
    await openKit().answer(id, { as, conversation_key: key, text: 'No.' });
    expect(await turn.reply).toBe('answered');
  });

  test('shows the open question again after a reconnect', async () => {
    const kit = openKit();
    const envelope = { ...as, conversation_key: key, message_id: 'm1', content: { text: 'hi' } };
    const ids: string[] = [];
    const reply = kit.handleStream(envelope, { onAsk: ({ id }) => void ids.push(id) });
    await expect.poll(() => ids.length).toBe(1);
    await link.close();
    link = await openLinkServer(core.context, file);
    await expect.poll(() => ids.length, { timeout: 20_000 }).toBe(2);
    expect(ids[1]).toBe(ids[0]);
    await kit.answer(ids[0] ?? '', { as, conversation_key: key, option: 'no' });
    expect((await reply).actions[0]?.text).toBe('answered');
  });
});

test.each([
  ['nothing', {}],
  ['an envelope', { envelope: {} }],
  ['no option', { ask_id: 'a', as, conversation_key: key }],
  ['option and text', { ask_id: 'a', as, conversation_key: key, option: 'yes', text: 'no' }],
  ['nobody', { ask_id: 'a', as: {}, conversation_key: key, option: 'yes' }],
  ['no conversation', { ask_id: 'a', as, option: 'yes' }],
  ['a megabyte', { ask_id: 'a', as, conversation_key: key, text: 'y'.repeat(1_000_000) }],
  ['half of a character', { ask_id: 'a', as, conversation_key: key, text: '\ud800' }],
  ['another kind', { ask_id: 7, as, conversation_key: key, option: 'yes' }],
  ['a list', { ask_id: 'a', as, conversation_key: key, option: ['yes'] }],
])('an answer that names %s is rejected, and the link stays open', async (_what, fields) => {
  const socket = connect(file);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const lines = [
    { op: 'hello', id: 0, pass: passOf('shop', 's1') },
    { op: 'answer', id: 1, ...fields },
    { op: 'resolve', id: 2, envelope: as },
  ];
  socket.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const replies: LinkReply[] = [];
  for await (const line of createInterface({ input: socket })) if (replies.push(JSON.parse(line) as LinkReply) === 2) break;
  expect(replies.toSorted((a, b) => a.id - b.id)).toMatchObject([
    { id: 1, error: { error: 'bad_request' } },
    { id: 2, identity: { principal_key: 'anna', asks: 'dangerous' } },
  ]);
});
