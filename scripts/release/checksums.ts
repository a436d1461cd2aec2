import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { signatureFile, signatureNamespace, sumsFile } from '@svc/service-kit/update/release-info.ts';

/** Writes the digests of all files in a folder to a file there, in the format of sha256sum(1). */
export async function writeSums(folder: string): Promise<void> {
  const names = readdirSync(folder).filter((name) => !name.startsWith(sumsFile));
  const lines: string[] = [];
  for (const name of names.toSorted()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(path.join(folder, name)), hash);
    lines.push(`${hash.digest('hex')}  ${name}\n`);
  }
  writeFileSync(path.join(folder, sumsFile), lines.join(''));
}

/** Signs the checksums with an SSH key, and verifies that installations accept it (`signers`). @throws Error when they do not */
export function signSums(folder: string, key: string, signers: string): void {
  const [sums, signature] = [path.join(folder, sumsFile), path.join(folder, signatureFile)];
  rmSync(signature, { force: true });
  execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-f', key, '-n', signatureNamespace, sums], {
    stdio: ['inherit', 'ignore', 'inherit'],
  });
  try {
    const who = execFileSync('ssh-keygen', ['-Y', 'find-principals', '-s', signature, '-f', signers], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    execFileSync(
      'ssh-keygen',
      ['-Y', 'verify', '-f', signers, '-I', who.split('\n')[0] ?? '', '-n', signatureNamespace, '-s', signature],
      {
        input: readFileSync(sums),
        stdio: 'pipe',
      },
    );
  } catch (error) {
    rmSync(signature, { force: true });
    throw new Error(`The checksums are not signed by a key of release-signers: set user.signingkey to one (CONTRIBUTING.md).`, {
      cause: error,
    });
  }
}
