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
 * The program's own home folder, one per session. What the program writes (the session, its memory, error reports) stays with that session,
 * and each turn has its own settings without affecting others.
 */
export type SessionHome = {
  readonly id: string;
  readonly dir: string;
  /** True while there is no session to resume. */
  readonly isNew: boolean;
  readonly systemFile: string;
  readonly rulesFile: string;
  readonly filesDir: string;
};

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Folder of the homes of sessions, and of side calls, whose homes are removed after the call. */
export const sessionsDir = (stateDir: string): string => path.join(stateDir, 'sessions');
export const sideDir = (stateDir: string): string => path.join(stateDir, 'side');
/** The path of a session's home for a program in a terminal. */
export const terminalDir = (stateDir: string, home: string): string => path.join(stateDir, 'terminals', path.basename(home));

/** The home of a session to resume; null when there is none. Only ids are accepted, because other words have a meaning to the program. */
export function knownHome(stateDir: string, id: string): SessionHome | null {
  if (!uuid.test(id)) return null;
  const home = homeAt(sessionsDir(stateDir), id, false);
  return existsSync(home.dir) ? home : null;
}

/** Removes a session with everything that the program wrote for it. */
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
/** The program reads this file as the owner's own notes. */
const contextFile = ({ dir }: SessionHome): string => path.join(dir, '.gemini/GEMINI.md');

/** The program's name for the session's folder in its home, whatever the working folder. */
const project = 'conversation';

/** Writes what the program reads when it starts: the persona replaces the vendor's manual for a terminal. */
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
 * Moves a session to another working folder. Sessions belong to one: the program keeps a list of them in its home, and a mark in each. In a
 * group, the next sender may have another folder, in which the session continues.
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

/** After a turn, removes the secrets of tool servers and the turn's own files; keeps the session if `isKept`. */
export async function tidyHome(home: SessionHome, { isKept }: { isKept: boolean }): Promise<void> {
  const passing = [settingsFile(home), home.filesDir, path.join(home.dir, 'tmp')];
  await Promise.all((isKept ? passing : [home.dir]).map((place) => rm(place, { recursive: true, force: true, maxRetries: 3 })));
}

const write = (file: string, text: string) => writeFile(file, text, { mode: 0o600 });

/** Sweeps of this process, by state folder. */
const sweeps = new Map<string, Promise<void>>();

/**
 * Removes what a killed service left behind, once in the life of this process: an engine with new settings begins while the one that it
 * replaces still runs its last turns in the same folder.
 */
export function sweepOnce(stateDir: string): Promise<void> {
  const sweeping = sweeps.get(stateDir) ?? sweep(stateDir);
  sweeps.set(stateDir, sweeping);
  return sweeping;
}

/** Removes commands of its turns, homes of side calls, and the secrets of tool servers in homes of sessions. */
export async function sweep(stateDir: string): Promise<void> {
  const sessions = sessionsDir(stateDir);
  await endMarkedProcesses('GEMINI_CLI_HOME', (value) => value.startsWith(`${sessions}${path.sep}`));
  await rm(sideDir(stateDir), { recursive: true, force: true });
  for (const id of await readdir(sessions)) {
    const home = knownHome(stateDir, id);
    if (home !== null) await tidyHome(home, { isKept: true });
  }
}
