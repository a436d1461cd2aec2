import type { Command } from 'commander';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { completionPlaces } from '../completion/completion-tree.ts';
import { renderCompletion, type Shell } from '../completion/render-completion.ts';
import { repositoryRoot } from '../repository-root.ts';
import { print } from '../terminal.ts';

/** Prints the script that completes command lines in a shell. */
export async function completion(shell: Shell, program: Command): Promise<number> {
  const { dataDir } = loadSettings(repositoryRoot);
  print(renderCompletion(shell, { places: completionPlaces(program), dataDir }).trimEnd());
  return exitCodes.ok;
}
