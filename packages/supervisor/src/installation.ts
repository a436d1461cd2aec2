import { readlink } from 'node:fs/promises';
import path from 'node:path';
import { installationHome } from '@svc/service-kit/update/update-places.ts';
import { commandWordsOf } from '@svc/service-kit/process/command-line.ts';
import { readVariable } from '@svc/service-kit/process/marked-processes.ts';

/** An Assistant Gateway on this machine: the folder that contains `svc`, and its data folder if known. */
export type Installation = { root: string; dataDir: string | null };

/** The entry files of the service's processes, relative to the installation. */
const program =
  '(?:apps/(?:cli|core|manager|collector|dashboard|vault|toolbelt)/src/main|packages/connector-kit/src/child-main)\\.ts';
const entries = new RegExp(`^(/.*)/${program}$`, 's');
/** The same in a command line as one text; folder names may contain blanks. */
const entryInLine = new RegExp(`(?:^| )(/.*?)/${program}(?: |$)`, 's');

/** The installation to which a process belongs, by its entry file; null for other programs. `line`: its command line. */
export async function installationOf(pid: number, line: string): Promise<Installation | null> {
  const words = await commandWordsOf(pid);
  const named = words.flatMap((word) => entries.exec(word)?.[1] ?? []).at(-1) ?? rootInLine(line);
  return named === undefined ? null : { root: installationHome(named), dataDir: await dataDirOf(pid) };
}

/** The path begins after the last blank that precedes a slash: Node and its options come before it. */
const rootInLine = (line: string): string | undefined => {
  const root = entryInLine.exec(line)?.[1];
  return root?.slice(Math.max(0, root.lastIndexOf(' /') + 1));
};

async function dataDirOf(pid: number): Promise<string | null> {
  const [set, home, cwd] = await Promise.all([
    variable(pid, 'SVC_DATA_DIR'),
    variable(pid, 'HOME'),
    readlink(`/proc/${pid}/cwd`).catch(() => null),
  ]);
  // A connector works in a folder of its own below the data.
  const ofInstance = /^(.*)\/instances\/[^/]+$/s.exec(cwd ?? '')?.[1];
  return ofInstance ?? set ?? (home === null ? null : path.join(home, '.svc'));
}

/** The variable is read as bytes, so it is decoded here. */
const variable = async (pid: number, name: string): Promise<string | null> => {
  const value = await readVariable(pid, name);
  return value === null ? null : Buffer.from(value, 'latin1').toString('utf8');
};
