import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addFolderCommand, type FolderRequest } from './folder-command.ts';
import { folderPath } from './folder-path.ts';
import { addSessionCommand, type SessionRequest } from '../session/session-command.ts';

async function parse(...args: string[]): Promise<FolderRequest | SessionRequest | undefined> {
  const program = new Command('svc').exitOverride().configureOutput({ writeErr: () => undefined });
  let found: FolderRequest | SessionRequest | undefined;
  const take = async (request: FolderRequest | SessionRequest) => void (found = request);
  addFolderCommand(program, take);
  addSessionCommand(program, take, async () => undefined);
  const override = (command: Command): void => {
    command.exitOverride().configureOutput({ writeErr: () => undefined });
    command.commands.forEach(override);
  };
  override(program);
  await program.parseAsync(args, { from: 'user' });
  return found;
}

test.each([
  [['folder'], { action: 'list' }],
  [['folder', 'list', '--json'], { action: 'list', json: true }],
  [['folder', 'set', 'a b', '--instance', 'work'], { action: 'set', folder: 'a b', target: { instance: 'work' } }],
  [['folder', 'set', '/x', '-c', 'compat'], { action: 'set', folder: '/x', target: { channel: 'compat' } }],
  [['folder', 'clear', '--tier', 'KNOWN', '--json'], { action: 'clear', target: { tier: 'KNOWN' }, json: true }],
  [['folder', 'trust', '.'], { action: 'trust', folder: '.' }],
  [['folder', 'untrust', '.'], { action: 'untrust', folder: '.' }],
  [['session', 'show', 'a:b:c'], { action: 'show', key: 'a:b:c' }],
  [['session', 'set', 'a:b:c', '--cwd', '/x', '--for', 'read'], { action: 'set', key: 'a:b:c', cwd: '/x', for: 'read' }],
  [['session', 'set', 'a:b:c', '--cwd', 'none'], { action: 'set', key: 'a:b:c', cwd: null }],
  [['session', 'history', 'k', '--limit', '5', '--before', '9'], { action: 'history', key: 'k', limit: 5, before: 9 }],
  [['session', 'title', 'k'], { action: 'title', key: 'k', title: undefined }],
  [['session', 'title', 'k', 'My', 'trip'], { action: 'title', key: 'k', title: 'My trip' }],
  [['session', 'title', 'k', 'none', '--json'], { action: 'title', key: 'k', title: null, json: true }],
  [['session', 'inject', 'k', '--interrupt', 'Stop', 'that'], { action: 'inject', key: 'k', text: 'Stop that', interrupt: true }],
  [['session', 'claim', 'k', '--by', 'anna'], { action: 'claim', key: 'k', by: 'anna' }],
  [['session', 'abort', 'k'], { action: 'abort', key: 'k' }],
  [['session', 'release', 'k'], { action: 'release', key: 'k' }],
  [['session', 'forget', 'k'], { action: 'forget', key: 'k' }],
])('parses %j', async (args, request) => expect(await parse(...args)).toMatchObject(request));

test.each([
  [['folder', 'set']],
  [['folder', 'set', '/x']],
  [['folder', 'set', '/x', '-i', 'a', '-c', 'b']],
  [['folder', 'set', '/x', '-c', 'b', '-t', 'KNOWN']],
  [['folder', 'set', '/x', '-t', 'UNKNOWN']],
  [['folder', 'clear']],
  [['folder', 'trust']],
  [['folder', 'nonsense']],
  [['session', 'set', 'a:b:c']],
  [['session', 'set', '--cwd', '/x']],
  [['session', 'set', 'a:b:c', '--cwd', '/x', '--for', 'none']],
  [['session', 'show']],
])('rejects %j', async (args) => {
  await expect(parse(...args)).rejects.toThrow();
});

test.each([
  ['src', '/here/src'],
  ['.', '/here'],
  ['../x/', '/x'],
  ['/srv/a', '/srv/a'],
  ['~', '/home/anna'],
  ['~/src', '/home/anna/src'],
  ['~bob/src', '/here/~bob/src'],
])('%j is resolved to %j', (typed, folder) => expect(folderPath(typed, '/here', '/home/anna')).toBe(folder));
