import { createFakeCore } from '@svc/connector-kit/testing/fake-core.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { createMemoryState } from '@svc/testing/memory-state.ts';
import { expect, test } from 'vitest';
import { openChatroom } from './open-chatroom.ts';
import { answeredOf, openWork, textsOf } from './open-work.ts';

test('a token that Discord rejects fails the start with advice', async () => {
  const token = 'MTIzNDU2Nzg5MDEyMzQ1Njc4.another.the-token-of-no-bot';
  await expect(openChatroom({ token })).rejects.toThrow(/rejected this token.*Reset Token/);
});

test('a malformed token fails the start and is never sent', async () => {
  await expect(openChatroom({ token: 'no token\r\nof a bot' })).rejects.toThrow(/is not a bot token/);
});

test('a bot without the Message Content Intent fails the start and names where to enable it', async () => {
  const server = { readsMessageContent: false };
  await expect(openChatroom({ server })).rejects.toThrow(/Message Content Intent.*Privileged Gateway Intents/);
});

test('reconnects after a cut, a close or a request to reconnect, without losing or repeating a message', async () => {
  const house = await openWork();
  const { server, me, say } = house;
  const breaks = [
    () => server.gateway.drop(),
    () => server.gateway.askToReconnect(),
    () => server.gateway.close(4000),
    () => server.gateway.invalidate(true),
    () => server.cutConnections(),
  ];
  const wanted: string[] = [];
  for (const [n, breakIt] of breaks.entries()) {
    await expect.poll(() => server.gateway.isConnected()).toBe(true);
    breakIt();
    say(`${me} ${n}`);
    wanted.push(String(n));
  }
  await expect.poll(() => answeredOf(house)).toEqual(wanted);
  expect(house.health()).toEqual({ healthy: true });
});

test('resumes the session after a restart, and receives edits made during the absence', async () => {
  const house = await openWork();
  const { server, me, say } = house;
  const first = say(`${me} before`);
  await expect.poll(() => answeredOf(house)).toEqual(['before']);
  await house.stop();
  server.edit(first, `${me} before, edited`);
  say(`${me} meanwhile`);
  await house.restart();
  await expect.poll(() => answeredOf(house)).toEqual(['meanwhile']);
  expect(house.core.amendments.map(({ text }) => text)).toEqual(['before, edited']);
});

test('when the session has expired, reads messages missed during the absence from the channels, once and in order', async () => {
  const house = await openWork({ server: { resumeMs: 0 } });
  const { server, ann, general, me, say } = house;
  const dm = server.dm(ann);
  say('in private', { channel: dm });
  say(`${me} before`);
  await expect.poll(() => textsOf(house).toSorted()).toEqual(['before', 'in private']);
  await house.stop();
  for (let n = 0; n < 130; n++) say(`${me} missed ${n}`, { channel: n % 10 === 9 ? dm : general });
  await house.restart();
  say(`${me} back`);
  const wanted = [...Array.from({ length: 130 }, (_, n) => `missed ${n}`), 'back'];
  await expect.poll(() => house.core.turns.length, { timeout: 30_000 }).toBe(wanted.length);
  const inGeneral = house.core.turns.filter(({ envelope }) => envelope.channel_context?.['channelId'] === general.id);
  expect(inGeneral.map(({ envelope }) => envelope.content.text)).toEqual(wanted.filter((_, n) => n % 10 !== 9 || n === 130));
  expect(textsOf(house).toSorted()).toEqual(wanted.toSorted());
});

test('a reply references its message in a server, and not in private, also after a restart', async () => {
  const core = createFakeCore();
  const house = await openWork({ context: { core } });
  const { server, ann, general, me, say } = house;
  const dm = server.dm(ann);
  core.script = () => new Promise(() => undefined);
  const said = say(`${me} hello`);
  say('hello', { channel: dm });
  await expect.poll(() => core.turns.length).toBe(2);
  await house.stop();
  core.script = ({ result }) => result({ actions: [{ type: 'reply', text: 'Hi.' }] });
  await house.restart();
  await expect
    .poll(() => [general, dm].map((channel) => server.replies(channel).map(({ replyTo }) => replyTo ?? null)))
    .toEqual([[said.id], [null]]);
});

test('messages missed during the absence are answered also for people who are known only by a role', async () => {
  const core = createFakeCore();
  const { resolve } = core;
  const house = await openWork({ server: { resumeMs: 0 }, context: { core } });
  const { server, guild, ann, me, say } = house;
  const role = server.role(guild, 'helpers', [ann]);
  const eve = server.person('Eve');
  server.join(guild, eve);
  core.resolve = async (asked) => {
    const known = await resolve(asked);
    return asked.sender.raw_id === `role:${role.id}` ? known : { ...known, principal_id: null, denied: true };
  };
  const texts = () => core.turns.map(({ envelope }) => [envelope.sender.raw_id, envelope.content.text]);
  say(`${me} before`);
  await expect.poll(texts).toEqual([[`role:${role.id}`, '[Written by ann]\nbefore']]);
  await house.stop();
  say(`${me} missed`);
  say(`${me} as well`, { from: eve });
  say('to the others', { from: eve });
  say(`${me} too`);
  await house.restart();
  await expect
    .poll(() => texts().slice(1))
    .toEqual([
      [`role:${role.id}`, '[Written by ann]\nmissed'],
      [eve.id, 'as well'],
      [`role:${role.id}`, '[Written by ann]\ntoo'],
    ]);
  expect(server.calls.filter(({ operation }) => operation === 'get_guild_member')).toHaveLength(2);
});

test('an invalidated session is replaced by a new one in the same process', async () => {
  const house = await openWork();
  const { server, me, say } = house;
  say(`${me} before`);
  await expect.poll(() => answeredOf(house)).toEqual(['before']);
  server.gateway.invalidate(false);
  say(`${me} between`);
  await expect.poll(() => answeredOf(house)).toEqual(['before', 'between']);
});

test('opens the channel while the disk is full', async () => {
  const full = {
    ...createMemoryState(),
    set: () => Promise.reject(new ServiceError('insufficient_storage', 'the disk is full')),
  };
  const house = await openChatroom({ context: { state: full } });
  await expect.poll(() => house.health()).toEqual({ healthy: true });
  expect(house.logs.join()).toContain('the bot of this connector could not be saved');
});

test('health is unhealthy while the gateway refuses connections, and recovers', async () => {
  const house = await openWork();
  const { server, me, say } = house;
  server.gateway.refuseNext(3);
  server.gateway.drop();
  await expect.poll(() => house.health().healthy).toBe(false);
  await expect.poll(() => house.health().healthy, { timeout: 20_000 }).toBe(true);
  say(`${me} there again?`);
  await expect.poll(() => answeredOf(house)).toEqual(['there again?']);
});
