/**
 * Makes the archives of the checked-out release: `node scripts/release-archive.ts --out FOLDER [--platform linux-x64]… [--archives URL] [--unsigned]`.
 * Each is complete: dependencies, Node, web apps. It also writes the contents of each (CycloneDX) and signed checksums. `--archives`: the address
 * where installations look for the next release.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { versionOf } from '@svc/service-kit/version.ts';
import { signSums, writeSums } from './release/checksums.ts';
import { makeArchive } from './release/make-archive.ts';

const { values: options } = parseArgs({
  options: {
    out: { type: 'string' },
    platform: { type: 'string', multiple: true, default: [`${process.platform}-${process.arch}`] },
    archives: { type: 'string' },
    unsigned: { type: 'boolean' },
  },
});
const root = process.cwd();
const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim();
const say = (words: string): void => void process.stdout.write(`${words}\n`);

if (options.out === undefined) throw new Error('Name the output folder: --out FOLDER');
const out = path.resolve(options.out);
if (existsSync(out) && readdirSync(out).length > 0) throw new Error(`${out} is not empty.`);
if (git('status', '--porcelain') !== '') throw new Error('There are uncommitted changes.');
const version = versionOf(root);
const commit = git('rev-parse', '--verify', 'HEAD');
if (options.unsigned !== true && !git('tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`))
  throw new Error(
    `The checked-out commit is not v${version}. Make the release first (node scripts/release.ts), or check it out.`,
  );

const time = Number(git('show', '--no-patch', '--format=%ct', 'HEAD'));
for (const platform of options.platform)
  say(await makeArchive({ root, out, info: { version, commit, platform, archives: options.archives ?? null }, time }));
await writeSums(out);
if (options.unsigned !== true) signSums(out, git('config', '--type=path', 'user.signingkey'), path.join(root, 'release-signers'));
say(`Publish everything in ${out}, for example with: gh release upload v${version} ${out}/*`);
