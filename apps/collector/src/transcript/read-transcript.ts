import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { PartialEvent } from '@svc/contract/event.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { beginningAtOnce } from '@svc/service-kit/redaction/in-slices.ts';
import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import type { FoundFile } from '@svc/service-kit/transcript/find-transcripts.ts';
import { readLine } from '@svc/service-kit/transcript/read-line.ts';
import { createLineReader, endBytes, openOwnFile, readEnds, type LineReader } from '@svc/service-kit/transcript/read-lines.ts';
import { terminalKey, type LineFacts } from '@svc/service-kit/transcript/transcript-line.ts';
import { toEvents } from './emitted-events.ts';
import { addLine, isTitled, newTranscript, type TranscriptRow } from './transcript-row.ts';
import type { TranscriptStore } from './transcript-store.ts';

export type ReaderDeps = {
  store: TranscriptStore;
  /** Stores events; resolves when they are stored. Null: no events are reported. */
  submit: ((events: PartialEvent[]) => Promise<unknown>) | null;
  /** The session of the core to which an engine's session belongs. */
  coreKeyOf: (engineSessionId: string, since: number) => Promise<string | null>;
  redactor: () => Promise<Redactor>;
  /** The user of this machine. */
  identity: string;
  /** The data folder, as configured and as its real path. */
  dataDirs: readonly string[];
  clock: Pick<Clock, 'now'>;
  /** Called with sessions that changed. */
  onChanged: (keys: string[]) => void;
};

const maxEvents = 200;
const maxPathBytes = 1024;
/** How much of the first message is masked for a title. */
const maxTitleSource = 4096;

/**
 * Reads the new part of a transcript. Of an unknown file created before `from` (epoch ms) only the first and last lines are
 * read. Rejects when the events cannot be stored; the next call continues after the last stored ones.
 */
export async function readTranscript(deps: ReaderDeps, found: FoundFile, from: number): Promise<void> {
  const handle = await openOwnFile(found.file);
  if (handle === null) return;
  try {
    const stat = await handle.stat();
    const known = await deps.store.read(found.file);
    if (known !== undefined && isUnchanged(known, stat)) return;
    const row = known ?? (await begin(found, stat));
    const lines = createLineReader(handle);
    if (known === undefined && madeAt(stat) < from) await readOld(deps, row, handle, stat);
    else if (row.file_id !== idOf(stat) || stat.size < row.read_to || row.mark !== (await lines.mark(row.read_to)))
      restart(row, stat);
    await readOn(deps, row, lines, stat);
  } finally {
    await handle.close();
  }
}

async function begin({ file, root }: FoundFile, stat: Stats): Promise<TranscriptRow> {
  const engine_session_id = root.file.exec(path.basename(file))?.[1] ?? null;
  const cwd = root.engine === 'gemini' ? await projectOf(file) : null;
  return newTranscript({ file, engine: root.engine, engine_session_id, cwd, is_whole: 1, file_id: idOf(stat) });
}

/** The Gemini CLI stores the folder of a project beside its chats. */
async function projectOf(file: string): Promise<string | null> {
  const handle = await openOwnFile(path.join(file, '../../.project_root'));
  if (handle === null) return null;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxPathBytes + 1), 0, maxPathBytes + 1, 0);
    const cwd = buffer.toString('utf8', 0, bytesRead).trim();
    return path.isAbsolute(cwd) && bytesRead <= maxPathBytes ? cwd : null;
  } finally {
    await handle.close();
  }
}

/** A file that is older than the first read makes no events, and only its beginning and end are read. */
async function readOld(deps: ReaderDeps, row: TranscriptRow, handle: FileHandle, { size }: Stats): Promise<void> {
  row.is_whole = size <= endBytes ? 1 : 0;
  const { lines, next } = await readEnds(handle, size);
  await takeIn(deps, row, lines);
  row.read_to = next;
}

/** The file was replaced or rewritten, so it is read from the start. Events have stable ids, so none is stored twice. */
const restart = (row: TranscriptRow, stat: Stats): void =>
  void Object.assign(row, {
    file_id: idOf(stat),
    read_to: 0,
    is_skipping: 0,
    is_whole: 1,
    input_tokens: null,
    output_tokens: null,
    cache_read_tokens: null,
    cache_write_tokens: null,
    cache_write_1h_tokens: null,
    last_usage: null,
  });

async function readOn(deps: ReaderDeps, row: TranscriptRow, reader: LineReader, stat: Stats): Promise<void> {
  const before = row.changed_at === 0 ? null : viewOf(row);
  for (let isEnd = false; !isEnd;) {
    const read = await reader.lines(row.read_to, row.is_skipping === 1);
    const facts = await takeIn(deps, row, read.lines);
    row.conversation_key ??= await keyFor(deps, row);
    await report(deps, row, facts);
    isEnd = read.isEnd;
    Object.assign(row, { read_to: read.next, is_skipping: read.isSkipping ? 1 : 0, mark: await reader.mark(read.next) });
    if (isEnd) Object.assign(row, { size: stat.size, changed_at: writtenAt(stat) });
    checkTimes(row, writtenAt(stat));
    await deps.store.save(row);
  }
  if (row.conversation_key === null || viewOf(row) === before) return;
  if (row.is_core === 0) await deps.store.saveSession(row, deps.identity);
  deps.onChanged([row.conversation_key]);
}

/** The fields that a list of sessions shows. */
const viewOf = ({ conversation_key, cwd, model, title, last_at, is_busy, input_tokens, output_tokens }: TranscriptRow): string =>
  JSON.stringify([conversation_key, cwd, model, title, last_at, is_busy, input_tokens, output_tokens]);

/** Limits times to the time of the file; one without times has that of the file. */
function checkTimes(row: TranscriptRow, writtenAt: number): void {
  row.last_at = row.last_at === 0 ? writtenAt : Math.min(row.last_at, writtenAt);
  row.started_at = row.started_at === 0 ? row.last_at : Math.min(row.started_at, row.last_at);
}

async function takeIn({ redactor }: ReaderDeps, row: TranscriptRow, lines: readonly string[]): Promise<LineFacts[]> {
  const read = lines.flatMap((line) => readLine(row.engine, line) ?? []);
  for (const facts of read) addLine(row, isTitled(row, facts) ? withoutSecrets(facts, await redactor()) : facts);
  return read;
}

/** A title is a person's text and is shown in every list. It is masked before it is cut, because half a secret is not recognized. */
function withoutSecrets({ title, ...facts }: LineFacts, redactor: Redactor): LineFacts {
  if (title === undefined) return facts;
  return { ...facts, title: { ...title, text: beginningAtOnce(redactor, title.text, maxTitleSource) } };
}

/** A session of the core keeps its key. Other transcripts of its engines (side calls, deleted sessions) are no sessions. */
async function keyFor({ store, coreKeyOf, dataDirs }: ReaderDeps, row: TranscriptRow): Promise<string | null> {
  const { engine, engine_session_id: id, cwd, file, started_at } = row;
  if (id === null || row.is_part === 1) return null;
  const core = (await store.keyOf(id)) ?? (await coreKeyOf(id, started_at));
  if (core !== null) row.is_core = 1;
  return core ?? (dataDirs.some((dataDir) => isWithin(dataDir, cwd, file)) ? null : terminalKey(engine, id));
}

/** Claude names the folder of a project after its path, and writes the path itself only later. */
function isWithin(dataDir: string, cwd: string | null, file: string): boolean {
  if (cwd !== null) return cwd === dataDir || cwd.startsWith(`${dataDir}/`);
  return path.basename(path.dirname(file)).startsWith(dataDir.replaceAll(/[^A-Za-z0-9]/g, '-'));
}

async function report(deps: ReaderDeps, row: TranscriptRow, lines: readonly LineFacts[]): Promise<void> {
  const { submit, identity, clock } = deps;
  // The core itself reports its own work in its sessions.
  const reported =
    row.conversation_key === null ? [] : lines.filter(({ isInteractive }) => row.is_core === 0 || isInteractive === true);
  if (submit === null || !reported.some(({ said }) => said.length > 0)) return;
  const reporter = { redactor: await deps.redactor(), identity, now: clock.now() };
  const events = reported.flatMap((facts) => toEvents(row, facts, reporter));
  for (let i = 0; i < events.length; i += maxEvents) await submit(events.slice(i, i + maxEvents));
}

const isUnchanged = (row: TranscriptRow, stat: Stats): boolean =>
  row.file_id === idOf(stat) && row.size === stat.size && row.changed_at === writtenAt(stat);
const writtenAt = ({ mtimeMs }: Stats): number => Math.trunc(mtimeMs);
const idOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;
/** Not every file system stores when a file was created. */
const madeAt = ({ birthtimeMs, mtimeMs }: Stats): number => (birthtimeMs > 0 ? birthtimeMs : mtimeMs);
