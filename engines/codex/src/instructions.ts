import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { readText } from '@svc/engine-kit/read-beginning.ts';
import type { EngineRequest, Instructions } from '@svc/engine-kit/engine.ts';
import { operatorCodexHome, operatorHome } from './codex-home.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The instructions of the operator's own codex: those in its folder, and the list of skills. */
export type OwnerInstructions = { read(): Promise<string> };

const freshMs = 30_000;
const maxInstructions = 32 * 1024;
const maxSkills = 100;
const maxHead = 4096;
const maxDescription = 500;

export function createOwnerInstructions(env: Env): OwnerInstructions {
  let last: { at: number; text: Promise<string> } | null = null;
  return {
    read() {
      const now = performance.now();
      if (last === null || now - last.at > freshMs) last = { at: now, text: readAll(env) };
      return last.text;
    },
  };
}

async function readAll(env: Env): Promise<string> {
  const codexHome = operatorCodexHome(env);
  const override = await readText(path.join(codexHome, 'AGENTS.override.md'), maxInstructions);
  const own = override.trim() === '' ? await readText(path.join(codexHome, 'AGENTS.md'), maxInstructions) : override;
  const folders = [path.join(operatorHome(env), '.agents/skills'), path.join(codexHome, 'skills')];
  const skills = (await Promise.all(folders.map(readSkills))).flat().slice(0, maxSkills);
  return [own.trim(), skills.length > 0 ? [skillsHeading, ...skills].join('\n') : ''].filter(Boolean).join('\n\n');
}

const skillsHeading = `## Skills
A skill is a file of instructions for one kind of task. When a message names one (also as $name), or its task fits a description, read that file before you begin.`;

/** One line for each folder that contains a skill. */
async function readSkills(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(absent([]))).filter((name) => !name.startsWith('.')).toSorted();
  const lines = await Promise.all(names.slice(0, maxSkills).map((name) => skillLine(path.join(folder, name, 'SKILL.md'), name)));
  return lines.filter((line) => line !== null);
}

async function skillLine(file: string, folderName: string): Promise<string | null> {
  const head = /^---\r?\n([\s\S]*?)\r?\n---/.exec(await readText(file, maxHead))?.[1];
  if (head === undefined) return null;
  const description = fieldOf(head, 'description').slice(0, maxDescription);
  return `- ${fieldOf(head, 'name') || folderName}: ${description} (${file})`;
}

const fieldOf = (head: string, name: string): string =>
  new RegExp(`^${name}:[ \\t]*(.*)$`, 'm')
    .exec(head)?.[1]
    ?.trim()
    .replace(/^(["'])(.*)\1$/, '$2') ?? '';

/** The value for a missing or unreadable file. */
const absent =
  <Value>(value: Value) =>
  (error: NodeJS.ErrnoException): Value => {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'EISDIR'].includes(error.code ?? '')) return value;
    throw error;
  };

/** The persona; the owner's own instructions are added only with the owner's full rights. */
export const instructionsText = async (
  { system, facts, toolPolicy }: EngineRequest,
  owner: OwnerInstructions,
): Promise<string> =>
  facts.tier === 'SACRED' && toolPolicy === 'full' ? [system, await owner.read()].filter(Boolean).join('\n\n') : system;

/** The instructions of a turn, and what the program adds to them. */
export async function readInstructions(request: EngineRequest, owner: OwnerInstructions): Promise<Instructions> {
  const { toolPolicy, trustedFolder } = request;
  const added = ['Before the message, up to 1 KB: the working folder, the shell, the date and what it may read.'];
  if (toolPolicy === 'full')
    added.push(`AGENTS.md of the folder${trustedFolder ? ', and its settings, because you trust it' : ''}.`);
  return { text: await instructionsText(request, owner), added: toolPolicy === 'none' ? [] : added };
}
