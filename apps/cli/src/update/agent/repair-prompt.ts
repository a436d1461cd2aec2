import { cutText } from '@svc/service-kit/cut-text.ts';
import type { RepairTree } from './worktree.ts';

type Task = {
  tree: Pick<RepairTree, 'folder' | 'patchFile'>;
  /** The version to install, and the running one. */
  to: string;
  from: string;
  /** The updater's message, which is the reason for asking. */
  failure: string;
  turn: number;
  mostTurns: number;
};

const longestFailure = 8000;

/** The engine's task in one turn. */
export function repairPrompt({ tree, to, from, failure, turn, mostTurns }: Task): string {
  const own =
    tree.patchFile === null
      ? 'The person has changed nothing in the files of the installation.'
      : `The person has changed files of the installation. Their changes, against the version they were made on, are the patch ${tree.patchFile}. Bring over what it is meant to do, as far as it still makes sense (git apply --3way helps). Where it is what breaks the version, fix it.`;
  return `An update of the Assistant Gateway, the service that runs you, from ${from} to ${to} could not be installed. You are asked to repair it. This is turn ${turn} of ${mostTurns}.

Your working folder, ${tree.folder}, is a copy of the files of ${to} that is used by nothing. Change it so that ${to} can be installed here, with as small a change as does it. ${own}

Rules:
- Work in this folder alone. Never touch the installation that runs, its data folder, its .env file, keys, databases or processes, and do not look into them.
- Do not start, stop or update the service, and install nothing. Do not change release-signers, and disable no check or test.
- End when your change is made. Commit it, or leave it uncommitted: the updater makes a commit of it then, tries it on a copy of the data, and only then installs it, or tells you what is wrong.

What the updater said:

${cutText(failure, longestFailure)}`;
}
