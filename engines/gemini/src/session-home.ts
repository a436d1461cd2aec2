import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { endMarkedProcesses } from '@svc/service-kit/process/marked-processes.ts';
import { readOwnerNotes } from './instructions.ts';
import { hideCommands } from './plain-text.ts';
import { turnSettings } from './settings.ts';
import { policyRules } from './tool-policy.ts';

/**
 * The program's own home folder, one for each session. What it writes (the session, what it wants to remember, reports
 * of errors) stays with that session, and each turn has its own settings without touching those of others.
 */
export type SessionHome = {
  readonly id: string;
  readonly dir: string;
  /** True while there is nothing to go on with. */
  readonly isNew: boolean;
  readonly systemFile: string;
  readonly rulesFile: string;
  readonly filesDir: string;
};

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Where the homes of sessions lie, and those of side calls, which are gone after the call. */
export const sessionsDir = (stateDir: string): string => path.join(stateDir, 'sessions');
export const sideDir = (stateDir: string): string => path.join(stateDir, 'side');
/** The name that a session's home has for a program in a terminal. */
export const terminalDir = (stateDir: string, home: string): string => path.join(stateDir, 'terminals', path.basename(home));

/** The home of a session that a turn wants to go on with; null when there is none. Words other than an id mean something to the program. */
export function knownHome(stateDir: string, id: string): SessionHome | null {
  if (!uuid.test(id)) return null;
  const home = homeAt(sessionsDir(stateDir), id, false);
  return existsSync(home.dir) ? home : null;
}

/** Removes a session with all that the program wrote for it. */
export async function removeHome(stateDir: string, id: string): Promise<void> {
  if (!uuid.test(id)) return;
  const { dir } = homeAt(sessionsDir(stateDir), id, false);
  for (const place of [terminalDir(stateDir, dir), dir]) await rm(place, { recursive: true, force: true, maxRetries: 3 });
}

export const newHome = (stateDir: string, { purpose }: Pick<EngineRequest, 'purpose'>): SessionHome =>
  homeAt(purpose === undefined ? sessionsDir(stateDir) : sideDir(stateDir), randomUUID(), true);

export function homeAt(parent: string, id: string, isNew: boolean): SessionHome {
  const dir = path.join(parent, id.toLowerCase());
  return {
    id,
    dir,
    isNew,
    systemFile: path.join(dir, 'system.md'),
    rulesFile: path.join(dir, 'rules.toml'),
    filesDir: path.join(dir, 'files'),
  };
}

const settingsFile = ({ dir }: SessionHome): string => path.join(dir, '.gemini/settings.json');
/** Read by the program as the owner's own notes. */
const contextFile = ({ dir }: SessionHome): string => path.join(dir, '.gemini/GEMINI.md');

/** What the program calls the session's folder in its home, whatever the working folder. */
const project = 'conversation';

/** Writes what the program reads at its start: the persona instead of the vendor's manual for a terminal. */
export async function furnishHome(home: SessionHome, request: EngineRequest, ownerHome: string | undefined): Promise<void> {
  await mkdir(path.join(home.dir, '.gemini'), { recursive: true, mode: 0o700 });
  const notes = await readOwnerNotes(request, ownerHome);
  await Promise.all([
    write(settingsFile(home), JSON.stringify(turnSettings(request), null, 2)),
    write(home.systemFile, hideCommands(request.system)),
    notes === null ? rm(contextFile(home), { force: true }) : write(contextFile(home), hideCommands(notes)),
    write(home.rulesFile, policyRules(request.toolPolicy) ?? ''),
    moveProject(home, await realpath(request.cwd)),
  ]);
}

/**
 * Sessions belong to a working folder: the program keeps a list of them in its home, and a mark in each. In a group the next
 * sender may have another folder, and the session goes on there.
 */
export async function moveProject(home: SessionHome, cwd: string): Promise<void> {
  const gemini = path.join(home.dir, '.gemini');
  const name = (await namedProject(gemini)) ?? project;
  await Promise.all(
    ['tmp', 'history'].map(async (part) => {
      await mkdir(path.join(gemini, part, name), { recursive: true, mode: 0o700 });
      await write(path.join(gemini, part, name, '.project_root'), cwd);
    }),
  );
  await write(path.join(gemini, 'projects.json'), JSON.stringify({ projects: { [cwd]: name } }));
}

/** A session of an earlier release has the name that the program gave to its first folder. */
async function namedProject(gemini: string): Promise<string | null> {
  const names = await readdir(path.join(gemini, 'tmp')).catch(() => []); // there is none before the first turn
  return names.find((name) => existsSync(path.join(gemini, 'tmp', name, 'chats'))) ?? null;
}

/** After a turn: the secrets of tool servers and what the turn laid down for itself go; the session stays, if it is to. */
export async function tidyHome(home: SessionHome, { isKept }: { isKept: boolean }): Promise<void> {
  const passing = [settingsFile(home), home.filesDir, path.join(home.dir, 'tmp')];
  await Promise.all((isKept ? passing : [home.dir]).map((place) => rm(place, { recursive: true, force: true, maxRetries: 3 })));
}

const write = (file: string, text: string) => writeFile(file, text, { mode: 0o600 });

/** What a service that was killed left behind: commands of its turns, the homes of side calls, and in those of sessions the secrets of tool servers. */
export async function sweep(stateDir: string): Promise<void> {
  const sessions = sessionsDir(stateDir);
  await endMarkedProcesses('GEMINI_CLI_HOME', (value) => value.startsWith(`${sessions}${path.sep}`));
  await rm(sideDir(stateDir), { recursive: true, force: true });
  for (const id of await readdir(sessions)) {
    const home = knownHome(stateDir, id);
    if (home !== null) await tidyHome(home, { isKept: true });
  }
}
