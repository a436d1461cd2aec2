import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { skipNote, testUnless, whyNoShell } from '@svc/testing/skip-note.ts';
import { completionPlaces } from '../src/completion/completion-tree.ts';
import { renderCompletion, shells, type Shell } from '../src/completion/render-completion.ts';
import { allCommands } from '../src/program/program.ts';

let folder: TemporaryFolder;
const places = completionPlaces(allCommands());
beforeAll(() => {
  folder = temporaryFolder();
  for (const id of ['compat', 'shop-2']) mkdirSync(path.join(folder.path, "da'ta $x", 'instances', id), { recursive: true });
  writeFileSync(path.join(folder.path, 'my clip.ogg'), '');
  const dataDir = path.join(folder.path, "da'ta $x");
  for (const shell of shells) writeFileSync(path.join(folder.path, shell), renderCompletion(shell, { places, dataDir }));
});
afterAll(() => folder.remove());

/** How to ask each shell for the completions of a line whose last word is being typed. */
const ask: Readonly<Record<Shell, (words: string[]) => { program: string; args: string[] }>> = {
  bash: (words) => ({
    program: 'bash',
    args: [
      '-c',
      'source ./bash; shift 0; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc; printf "%s\\n" "${COMPREPLY[@]}"',
      'bash',
      ...words,
    ],
  }),
  zsh: (words) => ({
    program: 'zsh',
    args: [
      '-f',
      '-c',
      `compadd() { local -a given; [[ $1 == -a ]] && given=("\${(@P)2}") || given=("$@"); print -rl -- "\${given[@]}" }
       _describe() { print -rl -- "\${(@P)2%%:*}" }; _files() { print -rl -- * }
       source ./zsh; words=("$@"); CURRENT=$#; _svc`,
      'zsh',
      ...words,
    ],
  }),
  fish: (words) => ({
    program: 'fish',
    args: ['--no-config', '-c', 'source ./fish; complete -C "$argv" | string replace -r "\\t.*" ""', words.join(' ')],
  }),
};

describe.each(shells.map((shell) => ({ shell, why: whyNoShell(shell) })))('completion in $shell', ({ shell, why }) => {
  const { program } = ask[shell]([]);

  const offered = (line: string): string[] => {
    const words = line.split(' ');
    const { args } = ask[shell](words);
    const { SVC_DATA_DIR: _data, ...env } = process.env;
    const { stdout, stderr } = spawnSync(program, args, { cwd: folder.path, env, encoding: 'utf8' });
    expect(stderr).toBe('');
    const typed = words.at(-1) ?? '';
    return stdout.split('\n').filter((word) => word !== '' && word.startsWith(typed));
  };

  test.skipIf(why !== null).each([
    ['svc sta', ['status']],
    ['./svc sta', ['status']],
    ['svc connector re', ['remove', 'restart']],
    ['svc connector restart ', ['compat', 'shop-2']],
    ['svc connector config sh', ['shop-2']],
    ['svc engine install c', ['claude', 'codex']],
    ['svc engine default g', ['gemini']],
    ['svc logs col', ['collector']],
    ['svc completion z', ['zsh']],
    ['svc status --js', ['--json']],
    ['svc connector --help lis', ['list']],
    ['svc transcribe my', ['my clip.ogg']],
    ['svc nonsense sta', []],
  ])(`completes "%s"${skipNote(why)}`, (line, expected) => {
    const found = offered(line).map((word) => word.replace(/\\ /g, ' '));
    if (line.includes('nonsense')) expect(found.length).toBeLessThan(3);
    else expect(found.toSorted()).toEqual(expected);
  });

  testUnless(why)('offers every command, and the shell accepts the script', () => {
    expect(spawnSync(program, ['-n', path.join(folder.path, shell)], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
    expect(offered('svc ').toSorted()).toEqual(
      allCommands()
        .commands.map((command) => command.name())
        .toSorted(),
    );
  });
});

test('completion starts no program of the service', () => {
  for (const shell of shells)
    expect(renderCompletion(shell, { places, dataDir: '/d' })).not.toMatch(/\bnode\b|\$\(.*svc |\bcurl\b/);
});
