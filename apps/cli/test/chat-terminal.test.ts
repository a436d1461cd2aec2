import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { startCliCore, type CliCore } from '@svc/testing/run-svc.ts';
import { testUnless, whyNoTmux } from '@svc/testing/skip-note.ts';

const noTmux = whyNoTmux();
const testInTmux = testUnless(noTmux);
/** A person looks again until they see it. */
const patience = { timeout: 30_000, interval: 100 };

let core: CliCore;
let socket: string;
const tmux = (...args: string[]) => execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' });
const screen = () => tmux('capture-pane', '-p', '-t', 'chat', '-S', '-200').replaceAll(/[^\S\n]+$/gm, '');
const sees = (what: string | RegExp) => expect.poll(screen, patience)[typeof what === 'string' ? 'toContain' : 'toMatch'](what);
const type = (text: string) => tmux('send-keys', '-t', 'chat', '-l', '--', text);
const press = (...keys: string[]) => tmux('send-keys', '-t', 'chat', ...keys);

/** Runs a chat in a terminal of 90 columns, where the chat before has ended. */
function chat(...words: string[]): void {
  const program = [process.execPath, path.join(repositoryRoot, 'apps/cli/src/main.ts'), 'chat', ...words];
  // tmux does not always notice that a program has ended; a shell does.
  tmux('respawn-pane', '-k', '-t', 'chat', 'sh', '-c', '"$@"; echo "ended with $?"; exec cat', 'sh', ...program);
}

beforeAll(async () => {
  if (noTmux !== null) return;
  core = await startCliCore();
  socket = path.join(core.folder, 'tmux');
  const names = Object.entries({ ...core.env, TERM: 'tmux-256color' }).map(([name, value]) => `${name}=${value}`);
  execFileSync('env', [
    '-i',
    ...names,
    'tmux',
    '-S',
    socket,
    '-f',
    '/dev/null',
    'new-session',
    '-d',
    '-s',
    'chat',
    '-x',
    '90',
    '-y',
    '40',
    'cat',
  ]);
  chat();
});
afterAll(async () => {
  if (noTmux !== null) return;
  tmux('kill-server');
  await core.close();
});

testInTmux('several pasted lines are one message with rendered Markdown', async () => {
  await sees('Ctrl-D quits');
  tmux('set-buffer', 'echo # Title\n\n**bold** words');
  tmux('paste-buffer', '-p', '-t', 'chat');
  await sees('› echo # Title\n\n  **bold** words');
  press('Enter');
  await sees(/\nTitle\n\nbold words\n\n›$/m);
});

testInTmux('during a turn, shows progress, runs commands at once and queues the next message', async () => {
  type('wait 600 long');
  press('Enter');
  await sees(/working · \d+ s · Ctrl-C stops/);
  type('/status');
  press('Enter');
  await sees('Conversation: running');
  type('echo after it');
  press('Enter');
  await sees(/Ctrl-C stops\n… echo after it\n\n›/);
  press('C-c');
  await sees(/\(stopped\)\n\n› echo after it\n\nafter it\n\n›$/m);
});

testInTmux('an answer that ends after the chat was left is shown once, in the next chat', async () => {
  type('wait 5 made alone');
  press('Enter');
  await sees(/working · \d+ s/);
  press('C-d');
  await sees('pending answers are shown');
  const isListed = async () => (await core.svc(['delivery'])).out.includes('made alone');
  await expect.poll(isListed, patience).toBe(true);
  tmux('clear-history', '-t', 'chat');
  chat();
  await sees(/— answered while you were away, .* ago —\n\nmade alone\n/);
  await expect.poll(isListed, patience).toBe(false);
  press('C-c');
  await sees('Ctrl-C again or Ctrl-D quits.');
  press('C-c');
  await sees('ended with 130');
});

testInTmux('a single message also asks its person, and accepts the answer at the prompt', async () => {
  expect(await core.svc(['role', 'set', 'owner', '--asks', 'dangerous'])).toMatchObject({ code: 0 });
  tmux('clear-history', '-t', 'chat');
  chat('ask Which one? | This | That');
  await sees(/\? Which one\?\n1\. This\n2\. That\nAnswer with a number or the words\.[^]*\n›$/m);
  type('neither');
  press('Enter');
  await sees('This is not one of the answers.');
  type('2');
  press('Enter');
  await sees(/Answered: That\n[^]*That[^]*ended with 0/);
});
