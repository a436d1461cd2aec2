import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CoreError } from '@svc/connector-kit';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { openGateway, refuseOnce } from './open-gateway.ts';

test('a message must name the device by its id when the name is not unique', async () => {
  const gateway = await openGateway();
  const [ann, bob] = [await gateway.device('Ann'), await gateway.device('Bob')];
  const file = path.join(gateway.folder, 'keys.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"name": "Bob"', '"name": "Ann"'));
  await gateway.restart();
  const control = await gateway.read(ann.token, '/gw/control');
  await expect.poll(control.types).toEqual(['ready']);
  const send = (target: string) =>
    gateway.live().send!({ id: 's1', kind: 'speak', target, text: 'Dinner.' } as never, new AbortController().signal);
  await expect(send('Ann')).rejects.toMatchObject({ code: 'unprocessable', message: expect.stringContaining('Use the ID') });
  await expect(send(bob.device.id)).rejects.toMatchObject({ code: 'busy' });
  await send(ann.device.id);
  await expect.poll(control.types).toEqual(['ready', 'speak']);
});

test('speaks a message on the devices that are connected, and fails as busy without one', async () => {
  const gateway = await openGateway();
  const [ann, bob] = [await gateway.device('Ann'), await gateway.device('Bob')];
  const send = (target: string) =>
    gateway.live().send!({ id: 's1', kind: 'speak', target, text: 'Dinner.' } as never, new AbortController().signal);
  await expect(send(ann.device.id)).rejects.toMatchObject({ code: 'busy' });
  await expect(send('*')).rejects.toMatchObject({ code: 'busy' });
  await expect(send('nobody')).rejects.toMatchObject({ code: 'unprocessable' });
  const [stream, control] = [await gateway.read(ann.token), await gateway.read(bob.token, '/gw/control')];
  await send('*');
  await send('Ann');
  await expect.poll(stream.types).toEqual(['ready', 'speak', 'speak']);
  await expect.poll(control.types).toEqual(['ready', 'speak']);
});

test('speaks to a caller without a token, too', async () => {
  const gateway = await openGateway({ require_token: false });
  const control = await gateway.read('', '/gw/control');
  for (const target of ['*', 'local'])
    await gateway.live().send!({ id: target, kind: 'speak', target, text: 'Dinner.' } as never, new AbortController().signal);
  await expect.poll(control.types).toEqual(['ready', 'speak', 'speak']);
});

test('an injected message is delivered once the core has not refused it for a while, though its turn still runs', async () => {
  const clock = createFakeClock();
  const gateway = await openGateway({}, {}, { clock });
  const { device } = await gateway.device('Phone');
  gateway.core().script = () => new Promise(() => undefined);
  const send = () =>
    gateway.live().send!({ id: 's1', kind: 'inject', target: device.id, text: 'Note.' } as never, new AbortController().signal);
  const sent = send();
  await expect.poll(() => gateway.core().turns.length).toBe(1);
  clock.advance(2_000);
  await sent;
  let isDone = false;
  const repeat = send().then(() => (isDone = true));
  await expect.poll(() => (clock.advance(2_000), isDone)).toBe(true);
  await repeat;
  expect(gateway.core().turns.map(({ envelope }) => envelope.message_id)).toEqual(['s1']);
});

test('injects a message to all devices once each, also after one of them had refused it', async () => {
  const gateway = await openGateway();
  const [ann, bob] = [await gateway.device('Ann'), await gateway.device('Bob')];
  for (const { token } of [ann, bob]) await expect.poll((await gateway.read(token)).types).toEqual(['ready']);
  refuseOnce(gateway.core().sessions, (key) => key.endsWith(ann.device.id));
  const send = () =>
    gateway.live().send!({ id: 's1', kind: 'inject', target: '*', text: 'Note.' } as never, new AbortController().signal);
  await expect(send()).rejects.toMatchObject({ code: 'unavailable' });
  await send();
  await send();
  const keys = gateway.core().turns.map(({ envelope }) => envelope.conversation_key);
  expect(keys).toEqual([bob, ann].map(({ device }) => `device:inst_1:device:${device.id}`));
});

test('a device that may not get injected messages does not keep them from others', async () => {
  const gateway = await openGateway();
  const [ann, bob] = [await gateway.device('Ann'), await gateway.device('Bob')];
  for (const { token } of [ann, bob]) await expect.poll((await gateway.read(token)).types).toEqual(['ready']);
  const { sessions } = gateway.core();
  const { inject } = sessions;
  sessions.inject = async (as, key, said) => {
    if (!key.endsWith(bob.device.id)) return inject(as, key, said);
    throw new CoreError('forbidden', 'inject is for people who are known, and above.', { mayHaveRun: false });
  };
  const send = (target: string) =>
    gateway.live().send!({ id: 's1', kind: 'inject', target, text: 'Note.' } as never, new AbortController().signal);
  await send('*');
  await expect(send('Bob')).rejects.toMatchObject({ code: 'forbidden' });
  expect(gateway.core().turns.map(({ envelope }) => envelope.sender.raw_id)).toEqual([ann.device.id]);
});

test('an injected message starts the conversation of a device that has none', async () => {
  const gateway = await openGateway();
  const { device } = await gateway.device('Phone');
  gateway.core().sessions.inject = async () => {
    throw new CoreError('not_found', 'There is no such session.', { mayHaveRun: false });
  };
  const message = { id: 's1', kind: 'inject', target: 'Phone', text: 'Note.' };
  await gateway.live().send!(message as never, new AbortController().signal);
  expect(gateway.core().turns.map(({ envelope }) => envelope)).toEqual([
    expect.objectContaining({
      conversation_key: `device:inst_1:device:${device.id}`,
      message_id: 's1',
      sender: { raw_id: device.id, raw_username: 'Phone' },
      content: { text: 'Note.' },
      keeps: true,
    }),
  ]);
});
