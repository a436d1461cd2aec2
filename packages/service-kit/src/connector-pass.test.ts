import { readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { openConnectorPasses, ownsKey } from './connector-pass.ts';

function openFile() {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  return { file: path.join(folder.path, 'connector.key'), folder: folder.path };
}

test('a pass is valid for every process that reads the same key', () => {
  const { file, folder } = openFile();
  const [manager, core] = [openConnectorPasses(file), openConnectorPasses(file)];
  const pass = manager.issue({ type: 'shop', instanceId: 'inst_1' }).reveal();
  expect(core.check(pass)).toEqual({ type: 'shop', instanceId: 'inst_1' });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['connector.key']);
});

test('each issued pass is different', () => {
  const passes = openConnectorPasses(openFile().file);
  const peer = { type: 'shop', instanceId: 'inst_1' };
  expect(passes.issue(peer).reveal()).not.toBe(passes.issue(peer).reveal());
});

test('rejects a pass of another installation', () => {
  const pass = openConnectorPasses(openFile().file).issue({ type: 'shop', instanceId: 'inst_1' });
  expect(openConnectorPasses(openFile().file).check(pass.reveal())).toBeNull();
});

test('rejects a pass with any character changed', () => {
  const passes = openConnectorPasses(openFile().file);
  const pass = passes.issue({ type: 'shop', instanceId: 'inst_1' }).reveal();
  const signs = fc.constantFrom('A', 'b', '0', '-', '_', '.', '=', ' ', '\n', '\ud83d');
  fc.assert(
    fc.property(fc.nat({ max: pass.length - 1 }), signs, (at, sign) => {
      const changed = pass.slice(0, at) + sign + pass.slice(at + 1);
      if (changed !== pass) expect(passes.check(changed)).toBeNull();
    }),
  );
  fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => passes.check(text) === null));
  for (const text of ['', '.', `${pass}.`, `${pass}\n`, pass.repeat(2), `${pass.split('.')[0]}.`])
    expect(passes.check(text)).toBeNull();
});

test('a pass allows every conversation only if it was issued so', () => {
  const passes = openConnectorPasses(openFile().file);
  const peer = { type: 'terminal', instanceId: 'inst_1', sessions: 'every' } as const;
  expect(passes.check(passes.issue(peer).reveal())).toEqual(peer);
  expect(passes.check(passes.issue({ ...peer, sessions: 'some' } as never).reveal())).toEqual({
    type: 'terminal',
    instanceId: 'inst_1',
  });
  for (const wrong of [{ type: 'terminal' }, { instanceId: 'inst_1' }, { type: 1, instanceId: 'inst_1' }])
    expect(passes.check(passes.issue(wrong as never).reveal())).toBeNull();
});

test('a ticket is valid for its file and instance only, and is not a pass', () => {
  const passes = openConnectorPasses(openFile().file);
  const ticket = passes.ticketFor('inst_1', '/uploads/a');
  expect(passes.isTicket(ticket, 'inst_1', '/uploads/a')).toBe(true);
  for (const [instance, file] of [
    ['inst_2', '/uploads/a'],
    ['inst_1', '/uploads/b'],
    ['inst_1', ''],
  ] as const)
    expect(passes.isTicket(ticket, instance, file)).toBe(false);
  for (const forged of ['', `${ticket}A`, openConnectorPasses(openFile().file).ticketFor('inst_1', '/uploads/a')])
    expect(passes.isTicket(forged, 'inst_1', '/uploads/a')).toBe(false);
  const text = Buffer.from(JSON.stringify(['file', 'inst_1', '/uploads/a'])).toString('base64url');
  expect(passes.check(`${text}.${ticket}`)).toBeNull();
});

test('a conversation belongs to the instance that its key begins with', () => {
  const peer = { type: 'shop', instanceId: 'inst_1' };
  expect(ownsKey(peer, 'shop:inst_1:user:7')).toBe(true);
  for (const key of [
    'shop:inst_1',
    'shop:inst_10:user:7',
    'shop2:inst_1:user:7',
    ' shop:inst_1:user:7',
    'x:shop:inst_1:user:7',
    '',
  ])
    expect(ownsKey(peer, key)).toBe(false);
});

test('rejects a damaged key and says what to do', () => {
  const { file } = openFile();
  writeFileSync(file, '');
  expect(() => openConnectorPasses(file)).toThrow(/connector\.key is damaged.*Remove it and restart the service/);
});
