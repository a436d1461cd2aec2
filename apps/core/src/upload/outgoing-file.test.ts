import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileTicketHeader, type ManifestEntry } from '@svc/contract/upload.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { checkUploader, checkUploadOwner } from './check-uploader.ts';
import { createOutgoingFiles } from './outgoing-file.ts';

test('concurrent file searches are limited for each instance, and do not block other instances', async () => {
  const stuck = Promise.withResolvers<void>();
  let searches = 0;
  const deps = {
    paths: { uploads: import.meta.dirname },
    connectorPasses: { check: (pass: string) => ({ type: 'shop', instanceId: pass }), isTicket: () => false },
    uploads: {
      manifest: {
        async *newest() {
          searches++;
          await stuck.promise;
        },
      },
    },
  };
  const outgoingFile = createOutgoingFiles(deps as never);
  const open = (instance: string) =>
    outgoingFile(import.meta.filename, { authorization: `Bearer ${instance}` }).catch(({ code }: { code: string }) => code);
  const opened = Array.from({ length: 10 }, () => open('s1'));
  expect(await Promise.all(opened.slice(8))).toEqual(['queue_full', 'queue_full']);
  const other = open('s2');
  expect(searches).toBe(9);
  stuck.resolve();
  expect([...new Set(await Promise.all([...opened.slice(0, 8), other]))]).toEqual(['forbidden']);
  expect(await open('s1')).toBe('forbidden');
});

const own = 'shop:s1:user:7';
const foreign = 'shop:s2:user:7';
/** Two instances, whose passes are their names. */
const connectorPasses = {
  check: (pass: string) => (['s1', 's2'].includes(pass) ? { type: 'shop', instanceId: pass } : null),
  isTicket: (ticket: string, instance: string, file: string) => ticket === `${instance} ${path.basename(file)}`,
};

/** An upload area with these files and the conversation of each. */
function openArea(owners: Record<string, string | null>) {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const area = path.join(folder.path, 'uploads');
  mkdirSync(path.join(area, 'day'), { recursive: true });
  const at = (name: string) => path.join(area, 'day', name);
  for (const name of Object.keys(owners)) writeFileSync(at(name), name);
  writeFileSync(at('unlisted'), '');
  writeFileSync(path.join(area, 'manifest.jsonl'), '');
  symlinkSync('/etc/hostname', at('link'));
  const entries = Object.entries(owners).map(([name, key]) => ({
    id: `id-${name}`,
    name,
    mime: 'text/plain',
    path: at(name),
    conversation_key: key,
  }));
  async function* newest() {
    yield* entries as ManifestEntry[];
  }
  const outgoingFile = createOutgoingFiles({
    uploads: { manifest: { newest } },
    paths: { uploads: area },
    connectorPasses,
  } as never);
  const open = (name: string, { pass = 's1', key, ticket }: { pass?: string; key?: string; ticket?: string } = {}) =>
    outgoingFile(
      path.isAbsolute(name) ? name : at(name),
      { authorization: `Bearer ${pass}`, ...(ticket !== undefined && { [fileTicketHeader]: ticket }) },
      key,
    ).then(
      ({ id }) => id,
      ({ code }: { code: string }) => code,
    );
  return { area, open };
}

test('a connector opens only files of its own conversations, and cannot tell whether others exist', async () => {
  const { area, open } = openArea({ mine: own, theirs: foreign, nobodys: null });
  expect(await open('mine')).toBe('id-mine');
  expect(await open('mine', { key: own })).toBe('id-mine');
  for (const key of ['shop:s1:user:8', '', foreign]) expect([key, await open('mine', { key })]).toEqual([key, 'forbidden']);
  for (const name of ['theirs', 'nobodys', 'unlisted', 'gone', 'link', '../manifest.jsonl', '/etc/passwd', area])
    expect([name, await open(name)]).toEqual([name, 'forbidden']);
  expect(await open('theirs', { key: foreign })).toBe('forbidden');
  for (const pass of ['', 's3']) expect(await open('mine', { pass })).toBe('unauthorized');
});

test('a ticket opens exactly the file that is sent through the connector, and never for a conversation', async () => {
  const { open } = openArea({ mine: own, theirs: foreign });
  expect([await open('theirs', { ticket: 's1 theirs' }), await open('unlisted', { ticket: 's1 unlisted' })]).toEqual([
    'id-theirs',
    'sent',
  ]);
  expect([await open('gone', { ticket: 's1 gone' }), await open('link', { ticket: 's1 link' })]).toEqual([
    'not_found',
    'not_found',
  ]);
  for (const ticket of ['s2 theirs', 's1 mine', '']) expect(await open('theirs', { ticket })).toBe('forbidden');
  expect(await open('theirs', { ticket: 's1 theirs', key: foreign })).toBe('forbidden');
  expect(await open('mine', { ticket: 's1 theirs' })).toBe('id-mine');
});

test('a file is found among the newest 20,000 entries', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const file = path.join(folder.path, 'a');
  writeFileSync(file, '');
  const openBehind = (others: number) => {
    async function* newest() {
      for (let n = 0; n < others; n++) yield { path: 'another' };
      yield { id: 'found', path: file, conversation_key: own };
    }
    const deps = { uploads: { manifest: { newest } }, paths: { uploads: folder.path }, connectorPasses };
    return createOutgoingFiles(deps as never)(file, { authorization: 'Bearer s1' });
  };
  expect(await openBehind(19_999)).toMatchObject({ id: 'found', name: 'a', mime: 'application/octet-stream' });
  await expect(openBehind(20_000)).rejects.toMatchObject({ code: 'forbidden' });
});

test('a connector assigns uploads only to its own conversations, a program of the operator to any', () => {
  const check = (key: string | undefined, pass?: string) =>
    checkUploader({ connectorPasses }, pass === undefined ? {} : { authorization: `Bearer ${pass}` }, key);
  for (const [key, pass] of [
    [own, 's1'],
    [undefined, 's1'],
    [own, undefined],
    [foreign, undefined],
    [foreign, 'no-pass'],
  ] as const)
    expect(() => check(key, pass)).not.toThrow();
  for (const [key, pass] of [
    [foreign, 's1'],
    [own, 's2'],
    ['', 's1'],
  ] as const)
    expect(() => check(key, pass)).toThrow(expect.objectContaining({ code: 'forbidden' }));
});

test('an upload is continued only by the connector of its conversation, and under its own key', async () => {
  const owners: Record<string, string | null> = { a: own, b: foreign, c: null };
  const uploads = { keyOf: async (id: string) => owners[id] ?? null };
  type Asked = { id: string; key?: string; pass?: string };
  const mayGoOn = ({ id, key, pass }: Asked) =>
    checkUploadOwner({ connectorPasses, uploads }, pass === undefined ? {} : { authorization: `Bearer ${pass}` }, {
      id,
      key,
    }).then(
      () => true,
      ({ code }: { code: string }) => code,
    );
  const allowed: Asked[] = [
    { id: 'a' },
    { id: 'c' },
    { id: 'a', key: own },
    { id: 'a', pass: 's1' },
    { id: 'a', key: own, pass: 's1' },
  ];
  for (const asked of [...allowed, { id: 'b', pass: 'no-pass' }]) expect([asked, await mayGoOn(asked)]).toEqual([asked, true]);
  const refused: Asked[] = [
    { id: 'a', key: foreign },
    { id: 'c', key: own },
    { id: 'b', pass: 's1' },
    { id: 'c', pass: 's1' },
    { id: 'a', key: 'shop:s1:user:8', pass: 's1' },
    { id: 'b', key: foreign, pass: 's1' },
  ];
  for (const asked of refused) expect([asked, await mayGoOn(asked)]).toEqual([asked, 'not_found']);
});
