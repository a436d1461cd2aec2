import { engineHomeNames } from '../config/engine-traits.ts';
import path from 'node:path';
import { findTranscripts } from './find-transcripts.ts';
import { createLineReader, openOwnFile } from './read-lines.ts';
import { readLine } from './read-line.ts';
import { transcriptRoots } from './transcript-roots.ts';
import type { LineFacts, Said, Tokens, TranscriptEngine } from './transcript-line.ts';

/** The variables that decide where an engine keeps its transcripts. */
export const homeNames = ['HOME', ...engineHomeNames] as const;
export type Homes = Partial<Record<(typeof homeNames)[number], string>>;

/** Identifies the transcript of an engine's session, and its length when a person began to talk in it. */
export type TalkMark = {
  engine: TranscriptEngine;
  homes: Homes;
  session: string | null;
  cwd: string;
  since: number;
  from: number;
};

/** A person's message and what followed it. `id`: the engine's own id of the message. Times are epoch ms. */
export type TalkTurn = {
  id: string;
  text: string;
  at: number;
  replies: string[];
  tools: { id: string; name: string; ok: boolean | null }[];
  endedAt: number;
};

/** `said`: everything, in order. `used`: tokens by model; `names`: the answers that used them. */
export type Talk = {
  session: string;
  turns: TalkTurn[];
  said: { at: number; item: Said }[];
  used: { model: string | null; tokens: Required<Tokens> }[];
  size: number;
};

/** A longer file is no transcript of a talk. */
const maxBytes = 512 * 1024 * 1024;

/** What was said since a mark; null without a transcript. */
export async function readTalk(mark: TalkMark): Promise<Talk | null> {
  const found = await findTranscript(mark);
  if (found === null) return null;
  const handle = await openOwnFile(found.file);
  if (handle === null) return null;
  try {
    const reader = createLineReader(handle);
    const { size } = await handle.stat();
    const talk = createTalk(found.session);
    const isNew = ({ at = 0 }: LineFacts, place: number) => (size < mark.from ? at >= mark.since : place >= mark.from);
    for (let at = 0, isSkipping = false, isEnd = false; !isEnd && at < maxBytes;) {
      const read = await reader.lines(at, isSkipping);
      let place = at;
      for (const line of read.lines) {
        const facts = readLine(mark.engine, line);
        if (facts !== null) talk.add(facts, isNew(facts, place));
        place += Buffer.byteLength(line) + 1;
      }
      ({ next: at, isSkipping, isEnd } = read);
    }
    return { ...talk.end(), session: found.session, size };
  } finally {
    await handle.close();
  }
}

/** The present length of a session's transcript; 0 while there is none. */
export async function talkSize(mark: Omit<TalkMark, 'from'>): Promise<number> {
  const found = mark.session === null ? null : await findTranscript({ ...mark, from: 0 });
  const handle = found === null ? null : await openOwnFile(found.file);
  if (handle === null) return 0;
  try {
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

type Found = { file: string; session: string };

/** Finds the file of the session. If its id was unknown, it is the first one that began in its folder since then. */
async function findTranscript({ engine, homes, session, cwd, since }: TalkMark): Promise<Found | null> {
  const root = transcriptRoots(homes, homes.HOME ?? '/').find((one) => one.engine === engine);
  if (root === undefined || !path.isAbsolute(root.dir)) return null;
  for await (const entry of findTranscripts(root)) {
    if (!('file' in entry)) continue;
    const named = root.file.exec(path.basename(entry.file))?.[1];
    if (session !== null && named !== undefined && named.toLowerCase() !== session.toLowerCase()) continue;
    const first = await firstFacts(entry.file, engine);
    const id = named ?? first.sessionId;
    if (id === undefined || first.isPart === true) continue;
    if (session === null ? first.cwd === cwd && (first.at ?? 0) >= since : id === session)
      return { file: entry.file, session: id };
  }
  return null;
}

async function firstFacts(file: string, engine: TranscriptEngine): Promise<Partial<LineFacts>> {
  const handle = await openOwnFile(file);
  if (handle === null) return {};
  try {
    const { lines } = await createLineReader(handle).lines(0, false);
    const facts: Partial<LineFacts> = {};
    for (const line of lines.slice(0, 20))
      for (const [name, value] of Object.entries(readLine(engine, line) ?? {}))
        Object.assign(facts, { [name]: facts[name as keyof LineFacts] ?? value });
    return facts;
  } finally {
    await handle.close();
  }
}

function createTalk(session: string) {
  const turns: TalkTurn[] = [];
  const said: Talk['said'] = [];
  const answers = new Map<string, { model: string | null; tokens: Tokens }>();
  const parts = new Map<string, Said>();
  let before: Tokens | null = null;
  let totals: Tokens | null = null;
  let model: string | null = null;
  let last = 0;

  const take = (item: Said, at: number): void => {
    if (parts.has(`${item.kind} ${item.part}`)) return; // a message may be repeated with more content
    parts.set(`${item.kind} ${item.part}`, item);
    said.push({ at, item });
    if (item.kind === 'inbound') {
      turns.push({
        id: item.part.includes('@') ? `${session} ${item.part}` : item.part,
        text: item.text,
        at,
        replies: [],
        tools: [],
        endedAt: at,
      });
      return;
    }
    const turn = turns.at(-1);
    if (turn === undefined) return;
    turn.endedAt = at;
    const call = String(item.payload?.['id'] ?? item.part);
    if (item.kind === 'outbound') turn.replies.push(item.text);
    if (item.kind === 'tool') turn.tools.push({ id: call, name: item.text, ok: null });
    const called = turn.tools.find(({ id }) => id === call);
    if (item.kind === 'tool_result' && called !== undefined) called.ok = item.payload?.['ok'] !== false;
  };

  return {
    add(facts: LineFacts, isNew: boolean): void {
      model = facts.model ?? model;
      if (facts.totals !== undefined) totals = facts.totals;
      if (!isNew) {
        before = totals;
        return;
      }
      last = facts.at ?? last;
      if (facts.usage !== undefined) answers.set(facts.usage.name, { model, tokens: facts.usage });
      for (const item of facts.said) take(item, last);
    },
    end(): Pick<Talk, 'turns' | 'said' | 'used'> {
      const used =
        answers.size > 0 ? sumByModel([...answers.values()]) : totals === null ? [] : [{ model, tokens: minus(totals, before) }];
      return { turns, said, used: used.filter(({ tokens }) => Object.values(tokens).some((count) => count > 0)) };
    },
  };
}

const whole = ({ input, output, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 }: Tokens): Required<Tokens> => ({
  input,
  output,
  cacheRead,
  cacheWrite,
  cacheWrite1h,
});

const joined = (a: Tokens, b: Tokens, join: (one: number, other: number) => number): Required<Tokens> => {
  const [one, other] = [whole(a), whole(b)];
  return {
    input: join(one.input, other.input),
    output: join(one.output, other.output),
    cacheRead: join(one.cacheRead, other.cacheRead),
    cacheWrite: join(one.cacheWrite, other.cacheWrite),
    cacheWrite1h: join(one.cacheWrite1h, other.cacheWrite1h),
  };
};

const none: Tokens = { input: 0, output: 0 };
const minus = (totals: Tokens, before: Tokens | null): Required<Tokens> =>
  joined(totals, before ?? none, (one, other) => Math.max(0, one - other));

function sumByModel(answers: readonly { model: string | null; tokens: Tokens }[]): Talk['used'] {
  const sums = new Map<string | null, Required<Tokens>>();
  for (const { model, tokens } of answers)
    sums.set(
      model,
      joined(sums.get(model) ?? none, tokens, (one, other) => one + other),
    );
  return [...sums].map(([model, tokens]) => ({ model, tokens }));
}
