import type { PartialEvent } from '@svc/contract/event.ts';
import { beginningAtOnce } from '@svc/service-kit/redaction/in-slices.ts';
import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import { saidId } from '@svc/service-kit/transcript/said-id.ts';
import type { LineFacts } from '@svc/service-kit/transcript/transcript-line.ts';
import type { TranscriptRow } from './transcript-row.ts';

const maxText = 64 * 1024;
const maxInput = 16 * 1024;

type Reporter = { redactor: Pick<Redactor, 'stream' | 'value'>; identity: string; now: number };

/**
 * The events of one line. Their ids are derived from the engine's own ids, so a line that is read again, or was copied into
 * another transcript, makes no second event.
 */
export function toEvents(row: TranscriptRow, { said, at }: LineFacts, reporter: Reporter): PartialEvent[] {
  // Work of a person in a session of the core is reported under that session, which keeps its channel and sender.
  const from = row.is_core === 1 ? {} : { surface: 'terminal', identity: reporter.identity };
  const ts = Math.min(at ?? (row.last_at || reporter.now), reporter.now);
  return said.map((item) => ({
    id: saidId(row.engine, row.engine_session_id, item),
    ts,
    kind: item.kind,
    session: row.conversation_key,
    ...from,
    text: beginningAtOnce(reporter.redactor, item.text, maxText),
    payload: { engine_id: row.engine, source: 'transcript', ...(item.payload && payloadOf(item.payload, row, reporter)) },
  }));
}

/** Of a long input, only the beginning of its JSON is reported. */
function payloadOf(
  { input, ...rest }: Record<string, unknown>,
  { cwd }: TranscriptRow,
  { redactor }: Reporter,
): Record<string, unknown> {
  const text = input === undefined ? '' : JSON.stringify(input);
  const bounded = text.length > maxInput ? beginningAtOnce(redactor, text, maxInput) : redactor.value(input);
  return { ...(input !== undefined && { cwd, input: bounded }), ...rest };
}
