import { renderLogEntry, toLogEntry } from '../logs/log-line.ts';
import type { OutputMask } from '../output-mask.ts';
import type { Style } from '../terminal.ts';
import type { ConnectorApi, InstanceLog } from './connector-api.ts';

type Deps = {
  api: Pick<ConnectorApi, 'logs'>;
  mask: Pick<OutputMask, 'lines'>;
  print: (text: string) => void;
  style: Style;
  /** False once nobody watches any more. */
  pause: () => Promise<boolean>;
};
type Options = { id: string; lines: number; follow?: boolean; json?: boolean };

/** The last lines of an instance, and with `follow` the new ones. */
export async function showLogs({ api, mask, print, style, pause }: Deps, { id, lines, follow, json }: Options): Promise<void> {
  const show = async (each: readonly InstanceLog[]) => {
    const texts = await mask.lines(each.map(({ text }) => text));
    for (const [i, { at }] of each.entries()) {
      const text = texts[i] ?? '';
      print(json === true ? text : renderLogEntry(toLogEntry(id, text, at), style));
    }
  };
  let seen = await api.logs(id);
  if (lines > 0) await show(seen.slice(-lines));
  while (follow === true && (await pause())) {
    const now = await api.logs(id);
    await show(linesAfter(seen, now));
    seen = now;
  }
}

/** The lines after the ones shown before. The log keeps only the last lines, so its beginning moves. */
export function linesAfter(before: readonly InstanceLog[], now: readonly InstanceLog[]): readonly InstanceLog[] {
  const last = before.at(-1);
  if (last === undefined) return now;
  const isSame = (a: InstanceLog, b: InstanceLog | undefined) => a.at === b?.at && a.text === b.text && a.stream === b.stream;
  // Lines may be equal and have the same time, so the lines before them must match too.
  const at = now.findLastIndex(
    (line, index) => isSame(line, last) && (index === 0 || before.length < 2 || isSame(now[index - 1] ?? line, before.at(-2))),
  );
  return now.slice(at + 1);
}
