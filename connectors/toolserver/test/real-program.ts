import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { signalGroup } from '@svc/service-kit/process/process-group.ts';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

/** What is typed once these words are on the screen. */
export type Answer = { after: RegExp; type: string };
export type Run = { code: number | null; output: string };

/** A vendor's program in a home of its own, on a desk whose browser is the test. */
export type RealProgram = {
  home: string;
  /** Runs it to its end. */
  run(args: readonly string[]): Promise<Run>;
  /** The same in a terminal, where nobody types. */
  runInTerminal(args: readonly string[]): Promise<Run>;
  /** The same with a person who answers its questions, each once its words are on the screen. */
  runAnswered(args: readonly string[], answers: readonly Answer[]): Promise<Run>;
  /** The address that the program opened in the browser; settles once it did. */
  opened(): Promise<string>;
};

const limitMs = 60_000;

/** `command`: the file of the program, with what goes before its arguments. */
export function openRealProgram(command: readonly string[], env: Readonly<Record<string, string>>): RealProgram {
  const folder = temporaryFolder();
  const home = path.join(folder.path, 'home');
  const bin = path.join(folder.path, 'bin');
  const seen = path.join(folder.path, 'opened');
  for (const dir of [home, bin]) mkdirSync(dir);
  // The desk's browser: leaves the address for the test.
  for (const name of ['xdg-open', 'browser']) {
    writeFileSync(path.join(bin, name), `#!/bin/sh\nprintf '%s' "$1" > '${seen}.part' && mv '${seen}.part' '${seen}'\n`);
    chmodSync(path.join(bin, name), 0o755);
  }
  const running = new Set<() => void>();
  onTestFinished(() => {
    for (const stop of running) stop();
    folder.remove();
  });
  const runToEnd = async ([file = '', ...args]: readonly string[], answers?: readonly Answer[]): Promise<Run> => {
    const child = spawn(file, args, {
      cwd: home,
      detached: true,
      env: {
        PATH: `${bin}:${path.dirname(process.execPath)}:/usr/bin:/bin`,
        HOME: home,
        DISPLAY: ':99', // no desktop would mean no browser
        BROWSER: path.join(bin, 'browser'),
        TERM: 'xterm-256color',
        ...env,
      },
    });
    const stop = () => void signalGroup(child, 'SIGKILL');
    running.add(stop);
    const timer = setTimeout(stop, limitMs);
    const open = [...(answers ?? [])];
    let output = '';
    if (answers === undefined) child.stdin.end();
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        while (open[0]?.after.test(output) === true) child.stdin.write(open.shift()!.type);
      });
    }
    const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
    clearTimeout(timer);
    running.delete(stop);
    return { code, output };
  };
  const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;
  return {
    home,
    run: (args) => runToEnd([...command, ...args]),
    runInTerminal: (args) => runToEnd(['script', '-qefc', [...command, ...args].map(quote).join(' '), '/dev/null'], []),
    runAnswered: (args, answers) => runToEnd([...command, ...args], answers),
    async opened() {
      while (!existsSync(seen)) await new Promise((resolve) => setTimeout(resolve, 50));
      return readFileSync(seen, 'utf8');
    },
  };
}
