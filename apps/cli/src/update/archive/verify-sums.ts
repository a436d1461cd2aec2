import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { signatureNamespace } from '@svc/service-kit/update/release-info.ts';
import { hasSigners } from '../verify-tag.ts';

const timeoutMs = 20_000;

/** Why checksums have no valid signature of an allowed signer (`signers`: a file in OpenSSH's format); null when they have. */
export async function whyNotSignedSums(sums: string, signature: string, signers: string): Promise<string | null> {
  if (!existsSync(signers) || !hasSigners(readFileSync(signers, 'utf8')))
    return `No release can be verified: ${path.basename(signers)} names no key.`;
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-signature-'));
  try {
    const file = path.join(folder, 'signature');
    writeFileSync(file, signature);
    const found = await keygen(['find-principals', '-s', file, '-f', signers], '');
    if (!found.isOk) return found.words || 'Its key is not among them.';
    const who = found.words.split('\n')[0] ?? '';
    const verified = await keygen(['verify', '-f', signers, '-I', who, '-n', signatureNamespace, '-s', file], sums);
    return verified.isOk ? null : verified.words;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Said = { isOk: boolean; words: string };

const keygen = (args: readonly string[], input: string): Promise<Said> =>
  new Promise((resolve) => {
    const child = execFile('ssh-keygen', ['-Y', ...args], { timeout: timeoutMs }, (error, stdout, stderr) => {
      if (error === null) return resolve({ isOk: true, words: stdout.trim() });
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      resolve({ isOk: false, words: isMissing ? 'ssh-keygen is not installed.' : (stderr || stdout).trim() });
    });
    child.stdin?.on('error', () => undefined).end(input); // it may end without reading
  });
