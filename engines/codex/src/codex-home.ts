import { lstatSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Codex's own folder, under our state: the operator's config file (tool servers, hooks, sandbox settings) must not reach
 * turns of other people. The operator's login is shared by a link, through which codex also writes refreshed tokens.
 */
export function openCodexHome(stateDir: string, options: { env: Env; sharesLogin: boolean }): string {
  const home = path.join(stateDir, 'home');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  linkLogin(path.join(home, 'auth.json'), options.sharesLogin ? path.join(operatorHome(options.env), 'auth.json') : null);
  return home;
}

const operatorHome = (env: Env): string => env.CODEX_HOME ?? path.join(env.HOME ?? os.homedir(), '.codex');

function linkLogin(link: string, target: string | null): void {
  const stat = lstatSync(link, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink() && target !== null && readlinkSync(link) === target) return;
  if (stat) rmSync(link);
  if (target !== null) symlinkSync(target, link);
}
