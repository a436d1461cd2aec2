import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { programs } from './mail-programs.ts';

/** A server that ends with its parent process, also when that is killed. */
export type OwnProgram = {
  /** Its last lines of output. */
  log(): string;
  stop(): Promise<void>;
};

type Options = { name: string; command: readonly [string, ...string[]]; logFile: string; ports: readonly number[] };

const patienceMs = 30_000;
const stopMs = 10_000;

/** Resolves when it greets on each of its ports. Rejects with its output when it ends before, or takes too long. */
export async function startOwnProgram({ name, command, logFile, ports }: Options): Promise<OwnProgram> {
  const out = createWriteStream(logFile, { flags: 'a' });
  const child = spawn(programs.setpriv, ['--pdeathsig', 'TERM', '--', ...command], { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.pipe(out, { end: false });
  let isGone = false;
  const exited = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  }).then(() => void (isGone = true));
  const log = (): string => readFileSync(logFile, 'utf8').slice(-4000);
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const giveUp = setTimeout(() => child.kill('SIGKILL'), stopMs);
    await exited;
    clearTimeout(giveUp);
    out.end();
  };
  const until = Date.now() + patienceMs;
  for (const port of ports) {
    while (!(await isListening(port))) {
      if (isGone || Date.now() > until) {
        await stop();
        throw new Error(`${name} does not come up: ${log()}`);
      }
      await pause(30);
    }
  }
  return { log, stop };
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('connect', () => socket.destroy());
    socket.once('error', () => resolve(false));
  });
