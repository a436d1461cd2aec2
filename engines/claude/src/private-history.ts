import { createReadStream, createWriteStream } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import { textLines } from '@svc/service-kit/text-lines.ts';
import { configDir, foldersIn } from './config-dir.ts';

/**
 * Additions of the program to a conversation that reveal nothing about the owner. All others, now or in a later version, come from the
 * owner's folder: notes, rules, memory, skills, agents, output styles, output of hooks.
 */
const common = new Set(['environment', 'model', 'date', 'session_context', 'remote_session_change']);

/** A replacement that adds nothing for the model, and keeps the chain of messages intact. */
const empty = { type: 'session_context', context: {} };

/**
 * Removes what the program has added for the owner from a session's history, because each later turn receives the whole history, whoever
 * speaks. The program must not be running. The conversation itself is kept.
 */
export async function removePrivate(env: Readonly<Record<string, string | undefined>>, sessionId: string): Promise<void> {
  for (const file of await historyFiles(env, sessionId)) {
    if (!(await hasPrivate(file))) continue;
    const written = `${file}.tmp`;
    try {
      await pipeline(Readable.from(withoutPrivate(file)), createWriteStream(written, { mode: 0o600 }));
      await rename(written, file);
    } finally {
      await rm(written, { force: true });
    }
  }
}

/** One file for each folder in which the session was opened. */
async function historyFiles(env: Readonly<Record<string, string | undefined>>, sessionId: string): Promise<string[]> {
  const folders = await foldersIn(path.join(configDir(env), 'projects'));
  const files = folders.map((folder) => path.join(folder, `${sessionId}.jsonl`));
  const there = await Promise.all(
    files.map((file) =>
      access(file).then(
        () => true,
        () => false,
      ),
    ),
  );
  return files.filter((_file, index) => there[index] === true);
}

const linesOf = (file: string) => textLines(createReadStream(file));

async function hasPrivate(file: string): Promise<boolean> {
  for await (const line of linesOf(file)) if (withoutAdded(line) !== line) return true;
  return false;
}

async function* withoutPrivate(file: string): AsyncGenerator<string> {
  for await (const line of linesOf(file)) yield `${withoutAdded(line)}\n`;
}

/** A line of the history, without the program's additions that may be private. */
export function withoutAdded(line: string): string {
  if (!line.includes('"attachment"')) return line;
  // The program also ignores a line that was cut off when it was killed.
  const entry = parseJsonOrNull(line) as Entry | null;
  if (entry?.type !== 'attachment' || common.has(String(entry.attachment?.type))) return line;
  const { rendered: _rendered, renderedRole: _role, ...kept } = entry;
  return JSON.stringify({ ...kept, attachment: empty });
}

type Entry = { type?: unknown; attachment?: { type?: unknown }; rendered?: unknown; renderedRole?: unknown };
