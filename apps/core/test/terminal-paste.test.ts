import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { waitFor } from '@svc/testing/house.ts';
import { testUnless, whyNoTmux } from '@svc/testing/skip-note.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished } from 'vitest';
import { createTmuxServer } from '../src/terminal/tmux-server.ts';
import { asTyped } from '../src/terminal/typed-text.ts';

const PATH = process.env['PATH'] ?? '';

testUnless(whyNoTmux())(
  'pastes exactly the text, without interpretation by tmux or a shell',
  async () => {
    const place = temporaryFolder();
    const server = createTmuxServer({ run: path.join(place.path, 'run'), path: PATH });
    onTestFinished(async () => {
      await server.stop();
      place.remove();
    });
    const canary = path.join(place.path, 'canary');
    const file = path.join(place.path, 'bytes');
    const program = String.raw`stty raw -echo; printf '\033[?2004h'; exec cat > "$1"`;
    await server.open('term_1', { argv: ['sh', '-c', program, 'sh', file], env: { PATH, LC_ALL: 'C.UTF-8' }, cwd: place.path });
    await waitFor(
      () => existsSync(file),
      10_000,
      () => 'the program does not run',
    );
    const command = `run-shell 'touch ${canary}'`;
    const texts = [
      'plain text',
      'ends with;',
      ';',
      ';;',
      `hi ; ${command}`,
      `#(touch ${canary})`,
      `$(touch ${canary})`,
      `\`touch ${canary}\``,
      '#{pane_pid}',
      '#[fg=red]#{E:status-left}',
      'Enter',
      'C-c',
      'Escape',
      'M-x',
      '-R',
      '--',
      '-t other',
      '-X cancel',
      '%0',
      '=pane:',
      '{last}',
      'C-b :kill-server',
      `' ; ${command} ; '`,
      '"; kill-server; "',
      'a\\;',
      '\\033[201~',
      '^C',
      '\\x03',
      // Real control characters: a terminal would take them for keys, or for the end of the paste.
      `out\u001b[201~\r!touch ${canary}\r`,
      `out\u001b[201~\n!touch ${canary}\n`,
      '\u009b201~\r/quit\r',
      'stop\u0003\u0004\u001a\u001b',
      'a\u0008\u007fb',
      '\u001bOA\u001bOP\u001b[15~',
      '\u001b]52;c;Y2FuYXJ5\u0007',
      '\u001bPtmux;\u001b\u001b]0;x\u0007\u001b\\',
      '\u0000\u0001\u0002b:kill-server\r',
      '\u0090$q"p\u009c',
      'a\u0085b\u2028c\u2029d',
      'one\r\ntwo\rthree\n',
      'ünï 你好 👍 \u202Etxt.exe a\u200Bb',
      `${`$(touch ${canary}) ; kill-server #{q:x} `.repeat(2000)};`,
      '你'.repeat(50_000),
    ];
    for (const text of texts) {
      await server.screen.paste('term_1', asTyped(text));
      await server.screen.press('term_1', 'Enter');
    }
    const bytes = () => readFileSync(file, 'utf8');
    await waitFor(
      () => bytes().split('\u001b[201~\r').length > texts.length,
      20_000,
      () => bytes().slice(-500),
    );
    expect(bytes()).toBe(texts.map((text) => `\u001b[200~${asTyped(text)}\u001b[201~\r`).join(''));
    // eslint-disable-next-line no-control-regex
    expect(bytes().replaceAll(/\u001b\[20[01]~\r?/g, '')).not.toMatch(/[^\P{Cc}\n\t]/u);
    expect(existsSync(canary)).toBe(false);
    expect(await server.list()).toHaveLength(1);
  },
  60_000,
);
