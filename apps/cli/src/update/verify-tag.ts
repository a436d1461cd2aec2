import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Git } from './git.ts';

/** The allowed signers of releases: a file of the installed version, in OpenSSH's format. */
export const signersFile = 'release-signers';

/** Why a tag has no valid signature of the allowed signers in `root`; null when it has. */
export async function whyNotSigned(git: Git, tag: string, root: string): Promise<string | null> {
  const file = path.join(root, signersFile);
  if (!existsSync(file) || !hasSigners(readFileSync(file, 'utf8')))
    return `No release can be verified: ${signersFile} names no key.`;
  try {
    // Only these signers and this format count, whatever the user's git settings say.
    const how = ['-c', 'gpg.format=ssh', '-c', 'gpg.ssh.program=ssh-keygen', '-c', `gpg.ssh.allowedSignersFile=${file}`];
    await git([...how, 'verify-tag', `refs/svc/fetched/${tag}`]);
    // The signed content has its own name, so a real release under the name of another one is refused.
    const signed = /^tag (.+)$/m.exec((await git(['cat-file', 'tag', `refs/svc/fetched/${tag}`])).split('\n\n')[0] ?? '')?.[1];
    return signed === tag ? null : `What is signed is "${signed ?? 'nothing'}", not "${tag}".`;
  } catch (error) {
    return (error as Error).message;
  }
}

export const hasSigners = (text: string): boolean => text.split('\n').some((line) => line.trim() !== '' && !line.startsWith('#'));
