import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { createFileOpener, createFileTickets } from '@svc/connector-kit/open-file.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
let coreUrl: string;
const shutdown = new AbortController();

beforeAll(async () => {
  core = await openTestCore({ env: { SVC_CORE_TOKEN: 'a-token-of-the-core-0123456789' } });
  coreUrl = await core.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => core.close());

const passOf = (instanceId: string, type = 'chatroom') => core.context.connectorPasses.issue({ type, instanceId }).reveal();
function connector(instanceId: string, pass = passOf(instanceId)) {
  const tickets = createFileTickets();
  return { tickets, open: createFileOpener({ coreUrl, pass, tickets, signal: shutdown.signal }) };
}
const upload = (content: string, conversation_key: string | null = null) =>
  core.context.uploads.take(Readable.from([Buffer.from(content)]), {
    filename: 'list.txt',
    mime: 'text/plain',
    conversation_key,
  });

test('a connector can open the files of its conversations', async () => {
  const { path: file } = await upload('milk, bread', 'chatroom:a:channel:1');
  const { data, bytes, mime } = await connector('a').open(file);
  expect([await text(data), bytes, mime]).toEqual(['milk, bread', 11, 'text/plain']);
});

test('a file requested for a conversation must belong to exactly that conversation', async () => {
  const key = 'chatroom:a:channel:1';
  const { path: file } = await upload('milk, bread', key);
  const { open, tickets } = connector('a');
  expect(await text((await open(file, { conversation_key: key })).data)).toBe('milk, bread');
  tickets.note(file, core.context.connectorPasses.ticketFor('a', file));
  for (const other of ['chatroom:a:channel:2', 'chatroom:b:channel:1', 'x'])
    await expect(open(file, { conversation_key: other })).rejects.toMatchObject({ code: 'forbidden' });
  const { path: theirs } = await upload('secret plans', 'chatroom:b:channel:1');
  await expect(open(theirs, { conversation_key: 'chatroom:b:channel:1' })).rejects.toMatchObject({ code: 'forbidden' });
});

test('a large file is streamed completely', async () => {
  const { path: file } = await upload('x'.repeat(5_000_000), 'chatroom:a:channel:1');
  expect((await buffer((await connector('a').open(file)).data)).length).toBe(5_000_000);
});

test.each([
  ['of another instance', 'chatroom:b:channel:1'],
  ['of an instance whose name begins alike', 'chatroom:a2:channel:1'],
  ['of another channel', 'messenger:a:channel:1'],
  ['of the owner’s shell', 'shell:owner:default'],
  ['of no conversation', null],
])("a file %s is forbidden, unless the manager's message brought a ticket for it", async (_what, key) => {
  const { path: file } = await upload('secret plans', key);
  const { open, tickets } = connector('a');
  await expect(open(file)).rejects.toMatchObject({ code: 'forbidden' });
  tickets.note(file, core.context.connectorPasses.ticketFor('a', file));
  expect(await text((await open(file)).data)).toBe('secret plans');
});

test('a ticket is valid for one instance and one file', async () => {
  const { path: one } = await upload('one');
  const { path: other } = await upload('other');
  const { open, tickets } = connector('a');
  const { ticketFor, issue } = core.context.connectorPasses;
  for (const ticket of [
    ticketFor('b', one),
    ticketFor('a', other),
    ticketFor('', one),
    `${ticketFor('a', one)}x`,
    '',
    'é',
    issue({ type: 'chatroom', instanceId: 'a' }).reveal().split('.')[1] ?? '',
  ]) {
    tickets.note(one, encodeURIComponent(ticket));
    await expect(open(one)).rejects.toMatchObject({ code: 'forbidden' });
  }
});

test('nothing outside the uploads opens, and missing files differ from forbidden ones only with a ticket', async () => {
  const { open, tickets } = connector('a');
  const own = await upload('x', 'chatroom:a:channel:1');
  const area = path.dirname(own.path);
  const link = path.join(area, 'link.txt');
  symlinkSync(path.join(core.folder, 'core.db'), link);
  writeFileSync(path.join(core.folder, 'note.txt'), 'private');
  for (const file of [
    link,
    path.join(core.folder, 'core.db'),
    path.join(core.folder, 'connector.key'),
    `${core.folder}/uploads/../note.txt`,
    `${core.folder}/uploads/manifest.jsonl`,
    `${core.folder}/uploads/.staging`,
    '/etc/passwd',
    '/dev/zero',
    'relative.txt',
    `${own.path}\u0000`,
    area,
  ]) {
    await expect(open(file), file).rejects.toMatchObject({ code: 'forbidden' });
    tickets.note(file, core.context.connectorPasses.ticketFor('a', file));
    await expect(open(file), file).rejects.toMatchObject({ code: 'not_found' });
  }
  const gone = path.join(area, 'gone.txt');
  await expect(open(gone)).rejects.toMatchObject({ code: 'forbidden' });
});

test('opens no file without a pass of this installation', async () => {
  const { path: file } = await upload('x', 'chatroom:a:channel:1');
  for (const pass of ['', 'x', passOf('a').slice(1), `${passOf('a')}=`])
    await expect(connector('a', pass).open(file)).rejects.toMatchObject({ code: 'unauthorized' });
});

test('eight files may be open at once, and closing one makes room', async () => {
  const { path: file } = await upload('x'.repeat(3_000_000), 'chatroom:a:channel:1');
  const { open } = connector('a');
  const files = await Promise.all(Array.from({ length: 8 }, () => open(file)));
  await expect(open(file)).rejects.toMatchObject({ code: 'queue_full' });
  for (const { data } of files) data.destroy();
  await expect
    .poll(() =>
      open(file).then(
        ({ data }) => data.destroy() !== null,
        () => false,
      ),
    )
    .toBe(true);
});

test('an unreachable core is reported as unavailable', async () => {
  const tickets = createFileTickets();
  const open = createFileOpener({ coreUrl: 'http://127.0.0.1:9', pass: 'x', tickets, signal: shutdown.signal });
  await expect(open('/u/x')).rejects.toMatchObject({ code: 'unavailable' });
});

test('the number of tickets kept is limited', () => {
  const tickets = createFileTickets();
  for (let i = 0; i <= 1000; i++) tickets.note(`/u/${i}`, 't');
  expect([tickets.find('/u/0'), tickets.find('/u/1000')]).toEqual([undefined, 't']);
});
