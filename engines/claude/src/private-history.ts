import { createReadStream, createWriteStream } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import { configDir, foldersIn } from './config-dir.ts';

/**
 * What the program adds to a conversation by itself that says nothing of the owner. All else that it adds comes from the owner's
 * folder, now or in a later version: notes, rules, memory, skills, agents, output styles, what hooks print.
 */
const common = new Set(['environment', 'model', 'date', 'session_context', 'remote_session_change']);

/** Adds nothing to what the model is given, and keeps the chain of messages whole. */
const empty = { type: 'session_context', context: {} };

/**
 * Takes what the program has added for the owner out of a session's history, of which each later turn is given everything,
 * no matter who speaks. The program must not be running. What was said and done in the conversation stays.
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

/** One for each folder that the session was opened in. */
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

const linesOf = (file: string) => createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });

async function hasPrivate(file: string): Promise<boolean> {
  for await (const line of linesOf(file)) if (withoutAdded(line) !== line) return true;
  return false;
}

async function* withoutPrivate(file: string): AsyncGenerator<string> {
  for await (const line of linesOf(file)) yield `${withoutAdded(line)}\n`;
}

/** A line of the history, without what the program has added when that may be private. */
export function withoutAdded(line: string): string {
  if (!line.includes('"attachment"')) return line;
  // A line that was cut off when the program was killed is not read by it either.
  const entry = parseJsonOrNull(line) as Entry | null;
  if (entry?.type !== 'attachment' || common.has(String(entry.attachment?.type))) return line;
  const { rendered: _rendered, renderedRole: _role, ...kept } = entry;
  return JSON.stringify({ ...kept, attachment: empty });
}

type Entry = { type?: unknown; attachment?: { type?: unknown }; rendered?: unknown; renderedRole?: unknown };
