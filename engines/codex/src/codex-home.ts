import { lstatSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Codex's own folder, in our state: the operator's config file (tool servers, hooks, sandbox settings) must not apply to turns of other
 * people. The operator's login is shared through a link, so that codex also writes refreshed tokens there.
 */
export function openCodexHome(stateDir: string, options: { env: Env; sharesLogin: boolean }): string {
  const home = path.join(stateDir, 'home');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  linkLogin(path.join(home, 'auth.json'), options.sharesLogin ? path.join(operatorCodexHome(options.env), 'auth.json') : null);
  return home;
}

/** The folder of the operator's own codex. */
export const operatorCodexHome = (env: Env): string => env.CODEX_HOME ?? path.join(operatorHome(env), '.codex');

export const operatorHome = (env: Env): string => env.HOME ?? os.homedir();

/**
 * A folder that stays empty. Codex is started with it as its home folder: otherwise it would give everyone the operator's skills, as a list
 * in the prompt and as the text of each skill that a message names, without any tool.
 */
export function openEmptyDir(stateDir: string): string {
  const dir = path.join(stateDir, 'empty');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  // The folder itself is kept, because a program may be working in it.
  for (const name of readdirSync(dir)) rmSync(path.join(dir, name), { recursive: true, force: true });
  return dir;
}

function linkLogin(link: string, target: string | null): void {
  const stat = lstatSync(link, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink() && target !== null && readlinkSync(link) === target) return;
  if (stat) rmSync(link);
  if (target !== null) symlinkSync(target, link);
}
