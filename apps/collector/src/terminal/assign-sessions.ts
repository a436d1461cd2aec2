import type { TranscriptRow } from '../transcript/transcript-row.ts';
import type { EngineProcess } from './engine-processes.ts';

type Row = Pick<
  TranscriptRow,
  'engine' | 'engine_session_id' | 'conversation_key' | 'cwd' | 'started_at' | 'last_at' | 'is_interactive'
>;
type Program = Pick<EngineProcess, 'pid' | 'engine' | 'args' | 'cwd' | 'began'>;

/** The clocks of processes and of files differ slightly. */
const slackMs = 100;
/** Arguments of a program that answers once and ends. */
const once = /^(?:exec|e|-p|--print|--prompt)$/;

/**
 * Which program runs which session, by key. A program that names its session has that one. Any other has the session that
 * its engine last wrote in its folder since it started; of several programs there, the one that started last before the
 * session. A program runs one session at a time.
 */
export function assignSessions<P extends Program>(
  programs: readonly P[],
  transcripts: readonly Row[],
  sessionOf: ReadonlyMap<number, string>,
): Map<string, P> {
  const assigned = new Map<string, P>();
  const taken = new Set<number>();
  const byTime = transcripts.toSorted((a, b) => b.last_at - a.last_at);
  const give = (row: Row, program: P | undefined) => {
    if (program === undefined || row.conversation_key === null || assigned.has(row.conversation_key)) return;
    assigned.set(row.conversation_key, program);
    taken.add(program.pid);
  };
  for (const program of programs) {
    const id = sessionOf.get(program.pid);
    const named = byTime.find(
      (row) => row.engine === program.engine && row.engine_session_id !== null && row.engine_session_id === id,
    );
    if (named !== undefined) give(named, program);
    // A program that names a session gets no other, even if that session has no transcript yet.
    if (id !== undefined) taken.add(program.pid);
  }
  for (const row of byTime)
    give(
      row,
      programOf(
        row,
        programs.filter(({ pid }) => !taken.has(pid)),
      ),
    );
  return assigned;
}

function programOf<P extends Program>(row: Row, programs: readonly P[]): P | undefined {
  const here = programs.filter(
    ({ engine, cwd, began, args }) =>
      engine === row.engine && cwd === row.cwd && row.last_at >= began - slackMs && isOfKind(row, args),
  );
  const resumed = here.find(({ args }) => row.engine_session_id !== null && args.includes(row.engine_session_id));
  const before = here.filter(({ began }) => began - slackMs <= row.started_at);
  return resumed ?? latest(before) ?? latest(here);
}

const isOfKind = ({ is_interactive }: Row, args: readonly string[]): boolean =>
  is_interactive === null || (is_interactive === 1) !== args.some((arg) => once.test(arg));

const latest = <P extends Program>(programs: readonly P[]): P | undefined => programs.toSorted((a, b) => b.began - a.began)[0];
