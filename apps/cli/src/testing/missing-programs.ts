import { accessSync, constants, existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../repository-root.ts';
import { quoted } from '../terminal.ts';

/** Programs that some tests need and `./svc test` does not install. */
export type Needed = { name: string; tests: string; isThere: boolean; install: 'engines' | Packages };
/** The packages that install it; null when its tests run on Linux only. */
type Packages = { debian: string; brew: string | null };

type Machine = { root: string; env: Readonly<Record<string, string | undefined>>; platform?: NodeJS.Platform };

/** The folder of the real engines for tests, once they are installed. */
export const enginesFolder = (env: Machine['env'], root = repositoryRoot): string =>
  env['SVC_TEST_ENGINES'] ?? path.join(root, '.cache/engines');

export function neededPrograms({ root, env }: Machine): Needed[] {
  const engines = enginesFolder(env, root);
  const isInstalled = pinnedEngines().every((id) => existsSync(path.join(engines, id, 'node_modules')));
  return [
    { name: 'the real engines (900 MB)', tests: 'of the engines', isThere: isInstalled, install: 'engines' },
    { name: 'tmux', tests: 'of terminals', isThere: isOnPath('tmux', env), install: everywhere('tmux') },
    { name: 'strace', tests: 'of disks that fail', isThere: isOnPath('strace', env), install: debian('strace') },
    { name: 'chromium', tests: 'of pages in a browser', isThere: hasChromium(env), install: everywhere('chromium') },
    { name: 'espeak-ng', tests: 'of speech', isThere: isOnPath('espeak-ng', env), install: everywhere('espeak-ng') },
    { name: 'zsh', tests: 'of completion', isThere: isOnPath('zsh', env), install: everywhere('zsh') },
    { name: 'fish', tests: 'of completion', isThere: isOnPath('fish', env), install: everywhere('fish') },
    { name: 'nginx', tests: 'behind a proxy', isThere: isServerThere('nginx', env), install: debian('nginx-light') },
    { name: 'caddy', tests: 'behind a proxy', isThere: isServerThere('caddy', env), install: debian('caddy') },
    { name: 'Dovecot', tests: 'of e-mail', isThere: isServerThere('dovecot', env), install: debian(dovecot) },
    { name: 'OpenSMTPD', tests: 'of e-mail', isThere: isServerThere('smtpd', env), install: debian('opensmtpd') },
  ];
}

const dovecot = 'dovecot-imapd dovecot-lmtpd dovecot-submissiond';
const everywhere = (name: string): Packages => ({ debian: name, brew: name });
const debian = (names: string): Packages => ({ debian: names, brew: null });

/** Debian installs servers in /usr/sbin, which need not be on a user's PATH. */
const isServerThere = (program: string, env: Machine['env']): boolean => isOnPath(program, { PATH: `${env['PATH']}:/usr/sbin` });

/** Programs that are installed from npm. */
const pinnedEngines = (): string[] =>
  globSync('engines/*/src/pin.ts', { cwd: repositoryRoot }).map((file) => file.split(path.sep)[1] ?? '');

const hasChromium = (env: Machine['env']): boolean => existsSync(env['TEST_CHROMIUM'] ?? '/usr/bin/chromium');

function isOnPath(program: string, env: Machine['env']): boolean {
  return (env['PATH'] ?? '').split(path.delimiter).some((dir) => {
    try {
      accessSync(path.join(dir, program), constants.X_OK);
      return dir !== '';
    } catch {
      return false; // not in this folder
    }
  });
}

/** What will be skipped, and the one command that installs the missing programs; empty when none is missing. */
export function missingLines(
  needed: readonly Needed[],
  { root, platform = process.platform }: Pick<Machine, 'root' | 'platform'>,
): string[] {
  const packageOf = ({ install }: Needed): string | null =>
    install === 'engines' ? null : platform === 'darwin' ? install.brew : install.debian;
  const missing = needed.filter((one) => !one.isThere && (one.install === 'engines' || packageOf(one) !== null));
  if (missing.length === 0) return [];
  const packages = missing.map(packageOf).filter((name) => name !== null);
  const steps = [
    ...(packages.length === missing.length ? [] : [`${nodeOf(root)} scripts/install-test-engines.ts`]),
    ...(packages.length === 0
      ? []
      : [platform === 'darwin' ? `brew install ${packages.join(' ')}` : `sudo apt-get install -y ${packages.join(' ')}`]),
  ];
  return [
    `Skipped for want of a program: ${missing.map(({ name, tests }) => `${name} (tests ${tests})`).join(', ')}.`,
    `To run them too: ${steps.join(' && ')}`,
  ];
}

/** The Node that `./svc` uses, by the shortest path from the root. */
function nodeOf(root: string): string {
  const own = '.runtime/node_modules/.bin/node';
  return existsSync(path.join(root, own)) ? own : quoted(process.execPath);
}
