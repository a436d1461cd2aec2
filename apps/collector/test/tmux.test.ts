import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { testUnless, whyNoTmux } from '@svc/testing/skip-note.ts';
import { openTestControl, type TestControl } from './open-test-control.ts';

const noTmux = whyNoTmux();
const testInTmux = testUnless(noTmux);

let control: TestControl;
let socket: string;
let canary: string;

const tmux = (...args: string[]) => execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' });
/** A terminal whose program writes every byte that it is given into a file. Before the file is there, C-c would end the shell. */
async function openPane(name: string): Promise<string> {
  const file = path.join(control.collector.dataDir, `${name}.bytes`);
  tmux('new-session', '-d', '-s', name, '-x', '200', '-y', '50', `stty raw -echo; exec cat > '${file}'`);
  await expect.poll(() => existsSync(file)).toBe(true);
  return file;
}
const bytes = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

beforeAll(async () => {
  if (noTmux !== null) return;
  const sessions = Object.fromEntries(
    ['pane', 'prefix', 'both', 'pan', 'shell', 'deaf'].map((name) => [name, { multiplexer: 'tmux', tmux_target: name }]),
  );
  const hostile = [
    'a#(touch canary)',
    '-R',
    'a;b',
    'pane:0.0;kill-server',
    '$(x)',
    'a b',
    '',
    '=pane',
    '%',
    '@1',
    'a:b:c',
    '{last}',
    '!',
  ];
  control = await openTestControl({
    ...sessions,
    exact: { multiplexer: 'tmux', tmux_target: 'pane:0.0' },
    ...Object.fromEntries(hostile.map((tmux_target, i) => [`hostile${i}`, { multiplexer: 'tmux', tmux_target }])),
  });
  const run = path.join(control.collector.dataDir, 'run');
  mkdirSync(run, { recursive: true });
  socket = path.join(run, 'tmux.sock');
  canary = path.join(control.collector.dataDir, 'canary');
});
afterAll(async () => {
  if (noTmux !== null) return;
  spawnSync('tmux', ['-S', socket, 'kill-server']);
  await control.close();
});

/** The state of a process: `Z` if it has ended but its parent, tmux, has not reaped it; empty when it is gone. */
const stateOf = (pid: number) => spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();

const type = (session_id: string, body: object) => control.post('send-keys', { session_id, ...body });

testInTmux('types exactly the text, without interpretation by tmux or a shell', async () => {
  const file = await openPane('pane');
  const command = `run-shell 'touch ${canary}'`;
  const texts = [
    'plain text',
    'ends with;',
    ';',
    ';;',
    'a\\;',
    'a\\\\;',
    '\\',
    '-R',
    '--',
    '-t other',
    'Enter',
    'C-c',
    `hi ; ${command}`,
    `#(touch ${canary})`,
    `$(touch ${canary})`,
    `\`touch ${canary}\``,
    '\'quoted\' "twice"',
    '#{pane_pid}',
    'ünï 你好 👍',
    ' leading and trailing ',
    '-X cancel',
    '-N 99 x',
    '%0',
    '=pane:',
    '{last}',
    '~/.tmux.conf',
    '\\033[201~',
    '^C',
    '\\x03',
    'C-b :kill-server',
    'M-x',
    'Escape',
    '"; kill-server; "',
    `' ; ${command} ; '`,
    `#{l:x}#(${command})`,
    `#[fg=red]#{E:status-left}`,
    '!!',
    '\u202Etxt.exe',
    'a\u200Bb',
    `${`$(touch ${canary}) ; kill-server #{q:x} `.repeat(200).slice(0, 15_000)};`,
    '你'.repeat(5000),
  ];
  for (const text of texts) expect((await type('pane', { text, enter: true })).status, text).toBe(200);
  await expect.poll(() => bytes(file).split('\r').length).toBe(texts.length + 1);
  expect(bytes(file)).toBe(texts.map((text) => `${text}\r`).join(''));
  expect(existsSync(canary)).toBe(false);
});

testInTmux('lines that are typed at the same time do not mix', async () => {
  const file = await openPane('both');
  const lines = ['one', 'two', 'three'];
  const answers = await Promise.all(lines.map((text) => type('both', { text, enter: true })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  await expect.poll(() => bytes(file).split('\r').slice(0, -1).toSorted()).toEqual(lines.toSorted());
});

testInTmux('presses named keys', async () => {
  const file = await openPane('prefix');
  for (const keys of ['C-c', 'Escape', 'Up', 'Tab', 'F1', 'M-b']) expect((await type('prefix', { keys })).status, keys).toBe(200);
  // How such a key is written depends on the mode of the terminal.
  await expect.poll(() => bytes(file).replaceAll('\u001bO', '\u001b[')).toBe('\u0003\u001b\u001b[A\t\u001b[P\u001bb');
});

testInTmux('matches the name of a terminal exactly, and accepts a pane', async () => {
  expect((await type('pan', { text: 'x' })).status).toBe(409);
  expect((await type('exact', { text: 'x' })).status).toBe(200);
});

testInTmux('rejects a target that tmux could interpret as more than a name', async () => {
  for (let i = 0; i < 13; i++) {
    for (const action of ['send-keys', 'kill'] as const) {
      const answer = await control.post(action, { session_id: `hostile${i}`, ...(action === 'send-keys' ? { text: 'x' } : {}) });
      expect(answer.status).toBe(409);
    }
  }
  expect(existsSync(canary)).toBe(false);
  expect(tmux('list-sessions')).toContain('pane');
});

testInTmux('kill ends the process of the terminal, by force if it ignores signals', async () => {
  tmux('new-session', '-d', '-s', 'shell', 'exec sleep 1000');
  const pid = Number(tmux('display-message', '-p', '-t', '=shell:', '#{pane_pid}'));
  expect(await control.post('kill', { session_id: 'shell' })).toMatchObject({ status: 200, body: { ok: true, pid } });
  expect(stateOf(pid)).toMatch(/^(Z.*)?$/);
  expect((await control.post('kill', { session_id: 'shell' })).status).toBe(409);

  tmux('new-session', '-d', '-s', 'deaf', "trap '' TERM HUP; while :; do sleep 1; done");
  expect((await control.post('kill', { session_id: 'deaf', hard: true })).status).toBe(200);
  expect(spawnSync('tmux', ['-S', socket, 'has-session', '-t', '=deaf']).status).not.toBe(0);
});
