import path from 'node:path';
import type { ControlDiff } from '@svc/contract/control.ts';
import { conflict, unavailable } from '@svc/service-kit/service-error.ts';
import { programEnv, runProgram, type ProgramResult } from './run-program.ts';

export type TreeDiff = Pick<ControlDiff, 'root' | 'branch' | 'files' | 'diff' | 'truncated'>;

const timeoutMs = 10_000;
const maxDiffBytes = 1024 * 1024;
const maxListBytes = 256 * 1024;
const maxFiles = 2000;

/** A repository may not be trusted. Its settings must not make git run a program, use the network or write. */
const harmless = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'core.attributesFile=/dev/null',
  'core.untrackedCache=false',
  'diff.external=',
  'protocol.allow=never',
  'submodule.recurse=false',
  'safe.bareRepository=explicit',
].flatMap((setting) => ['-c', setting]);

/** The changes in the work tree of a folder against its last commit. Throws `conflict` if it is in none. */
export async function readTreeDiff(folder: string): Promise<TreeDiff> {
  if (!path.isAbsolute(folder)) throw conflict('The folder of this session is not known.');
  const root = (await git(folder, [], 'rev-parse', '--show-toplevel')).stdout.replace(/\n$/, '');
  if (root === '') throw conflict('The folder of this session is not in a git work tree.');
  const off = await filtersOff(root);
  const branch = await tryGit(root, off, 'symbolic-ref', '--short', '-q', 'HEAD');
  const commit = await tryGit(root, off, 'rev-parse', '-q', '--verify', 'HEAD');
  const base = commit ?? (await git(root, off, 'hash-object', '-t', 'tree', '/dev/null')).stdout.trim();
  const noPrograms = ['--no-ext-diff', '--no-textconv', '--ignore-submodules=all'];
  const diff = await git(root, off, 'diff', '--no-color', '--no-renames', ...noPrograms, base, '--');
  const files = await git(root, off, 'status', '--porcelain=v1', '-z', '--no-renames', '--ignore-submodules=all');
  const names = files.stdout.split('\0').filter(Boolean).slice(0, maxFiles);
  return {
    root,
    branch,
    files: names,
    diff: diff.stdout,
    truncated: diff.truncated || files.truncated || names.length === maxFiles,
  };
}

/** Filters are programs that git runs on the files it compares; each is disabled by name. Throws `conflict` if one cannot be. */
async function filtersOff(root: string): Promise<string[]> {
  const { code, stdout, truncated } = await runGit(root, [], ['config', '--null', '--name-only', '--get-regexp', '^filter\\.']);
  if (truncated || (code !== 0 && code !== 1))
    throw conflict('The git filters of this repository cannot be listed, so git is not run in it.');
  const keys = stdout.split('\0').filter((key) => key.startsWith('filter.'));
  const names = new Set(keys.map((key) => key.replace(/^filter\./, '').replace(/\.?[^.]*$/, '')));
  // `-c` ends a name at its first `=`, and git prints bytes that are not text as another name.
  if ([...names].some((name) => /[=\uFFFD]/.test(name)))
    throw conflict('A git filter of this repository cannot be disabled because of its name, so git is not run in it.');
  return [...names].flatMap((name) =>
    ['clean=', 'smudge=', 'process=', 'required=false'].flatMap((end) => ['-c', `filter.${name}.${end}`]),
  );
}

/** Null if git fails. */
async function tryGit(root: string, settings: readonly string[], ...args: string[]): Promise<string | null> {
  const { code, stdout } = await runGit(root, settings, args);
  return code === 0 ? stdout.replace(/\n$/, '') : null;
}

async function git(root: string, settings: readonly string[], ...args: string[]): Promise<ProgramResult> {
  const result = await runGit(root, settings, args);
  if (result.code !== 0 && !result.truncated) throw conflict(`git refused: ${result.stderr.slice(0, 300)}`);
  return result;
}

async function runGit(folder: string, settings: readonly string[], args: readonly string[]): Promise<ProgramResult> {
  const maxBytes = args[0] === 'diff' ? maxDiffBytes : maxListBytes;
  const all = ['--no-pager', '--no-replace-objects', '--literal-pathspecs', ...harmless, ...settings, '-C', folder, ...args];
  return runProgram('git', all, { env: gitEnv(), timeoutMs, maxBytes }).catch((error: unknown) => {
    throw unavailable('git could not be run in the folder of this session, or took too long.', error);
  });
}

const gitEnv = (): Record<string, string> => ({
  PATH: programEnv()['PATH'] ?? '/usr/bin:/bin',
  LC_ALL: 'C.UTF-8',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
});
