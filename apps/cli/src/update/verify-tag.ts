import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Git } from './git.ts';

/** Who may release: a file of the installed version, in the form of OpenSSH's allowed signers. */
export const signersFile = 'release-signers';

/** Why a tag is not by one of those who may release, going by the version in `root`; null when it is. */
export async function whyNotSigned(git: Git, tag: string, root: string): Promise<string | null> {
  const file = path.join(root, signersFile);
  if (!existsSync(file) || !hasSigners(readFileSync(file, 'utf8')))
    return `No release can be verified: ${signersFile} names no key.`;
  try {
    // By these signers alone, in the one form that they have, whatever a person has set for git.
    const how = ['-c', 'gpg.format=ssh', '-c', 'gpg.ssh.program=ssh-keygen', '-c', `gpg.ssh.allowedSignersFile=${file}`];
    await git([...how, 'verify-tag', `refs/svc/fetched/${tag}`]);
    // What was signed names itself: a true release under the name of another one is refused.
    const signed = /^tag (.+)$/m.exec((await git(['cat-file', 'tag', `refs/svc/fetched/${tag}`])).split('\n\n')[0] ?? '')?.[1];
    return signed === tag ? null : `What is signed is "${signed ?? 'nothing'}", not "${tag}".`;
  } catch (error) {
    return (error as Error).message;
  }
}

export const hasSigners = (text: string): boolean => text.split('\n').some((line) => line.trim() !== '' && !line.startsWith('#'));
