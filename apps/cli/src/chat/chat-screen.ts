import type { InputLayout } from '../editor/layout-input.ts';
import { createScreen, type TerminalStream } from '../screen/screen.ts';
import { span, wrapSpans, type Line } from '../screen/spans.ts';
import { createStyle, visibleLine, type Style } from '../terminal.ts';
import { createScreenLines, type ScreenLines, type Transcript } from './screen-lines.ts';
import type { ShowAsk } from './show-ask.ts';
import { createTurnView, type TurnView } from './turn-view.ts';

/** What is shown below the transcript. */
export type Below = {
  /** What the engine does, and since when (`performance.now`); null while no turn runs. */
  activity: { words: string; since: number } | null;
  waiting: readonly string[];
  input: ((columns: number, rows: number) => InputLayout) | null;
};

/** A chat on a terminal: the transcript above, the running turn and the input below it. */
export type ChatScreen = Pick<Transcript, 'print'> & {
  columns(): number;
  /** Shows a turn; with a label, its message is printed above it. */
  openTurn(label: string | null, showAsk?: ShowAsk): TurnView;
  /** Redraws after a change: soon, or at once with `now`. */
  changed(now?: boolean): void;
  /** Clears the screen and redraws everything. */
  clear(): void;
  close(): void;
};

const drawMs = 40;
const spinMs = 120;
const spinner = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const mostWaiting = 3;
const mostEcho = 12;
const mostEchoed = 8000;

type Options = { stream: TerminalStream & { isTTY?: boolean }; below: () => Below };

export function createChatScreen({ stream, below }: Options): ChatScreen {
  const style: Style = createStyle(stream);
  const screen = createScreen(stream, style);
  const columns = () => screen.columns() - 1;
  const printed: Line[] = [];
  const turns = new Set<ScreenLines>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let lastSource: object | null = null;
  let isBlankAbove = true;

  const live = () => {
    const { activity, waiting, input } = below();
    const rows = screen.rows() - 1;
    const typed = input?.(columns(), Math.max(1, Math.floor(rows / 2))) ?? { lines: [], cursor: null };
    const status: Line[] = [
      ...(activity === null ? [] : [[], activityLine(activity)]),
      ...waiting.slice(0, mostWaiting).map((label) => [span(`… ${onOneLine(label)}`, 'dim')]),
      ...(waiting.length > mostWaiting ? [[span(`… and ${waiting.length - mostWaiting} more`, 'dim')]] : []),
      ...(input === null || (activity === null && isBlankAbove) ? [] : [[]]),
    ];
    const room = Math.max(0, rows - typed.lines.length - status.length);
    const preview = [...turns].flatMap((turn) => turn.preview());
    const above = [...(room === 0 ? [] : preview.slice(-room)), ...status.slice(-Math.max(1, rows - typed.lines.length))];
    const cursor = typed.cursor === null ? null : { row: above.length + typed.cursor.row, column: typed.cursor.column };
    return { lines: [...above, ...typed.lines], cursor };
  };

  const draw = () => {
    clearTimeout(timer);
    timer = undefined;
    if (isClosed) return;
    screen.update(printed.splice(0), live());
    if (below().activity !== null) timer = setTimeout(draw, spinMs);
  };
  let soon = false;
  const changed = (now = false) => {
    if (now) return draw();
    if (soon || isClosed) return;
    soon = true;
    setTimeout(() => {
      soon = false;
      draw();
    }, drawMs);
  };
  /** Separates the output of different sources by an empty line. */
  const printFrom = (source: object | null, lines: readonly Line[]) => {
    const isApart = source !== lastSource && !isBlankAbove && (lines[0]?.length ?? 0) > 0;
    printed.push(...(isApart ? [[]] : []), ...lines);
    lastSource = source;
    isBlankAbove = (lines.at(-1)?.length ?? 0) === 0;
    changed();
  };
  const print = (lines: readonly Line[]) => printFrom(null, lines);

  return {
    columns,
    print,
    changed,
    openTurn(label, showAsk) {
      const source = {};
      if (label !== null) printFrom(source, echo(label, columns()));
      const lines = createScreenLines({
        columns,
        print: (more) => printFrom(source, more),
        isRich: style.bold('x') !== 'x',
      });
      turns.add(lines);
      const view = createTurnView(lines, showAsk);
      return {
        ...view,
        finish(end) {
          turns.delete(lines);
          return view.finish(end);
        },
      };
    },
    clear() {
      stream.write('\u001B[H\u001B[2J');
      draw();
    },
    close() {
      if (isClosed) return;
      clearTimeout(timer);
      const rest = printed.splice(0);
      screen.update(rest, { lines: [], cursor: null });
      screen.close();
      isClosed = true;
    },
  };
}

/** A message on one line, with its line breaks shown as they are typed. */
const onOneLine = (label: string): string => visibleLine(label.slice(0, mostEchoed).replaceAll('\n', ' ⏎ '));

function activityLine({ words, since }: { words: string; since: number }): Line {
  const elapsed = performance.now() - since;
  const sign = spinner[Math.floor(elapsed / spinMs) % spinner.length] ?? '';
  return [span(`${sign} `, 'cyan'), span(`${visibleLine(words)} · ${Math.floor(elapsed / 1000)} s · Ctrl-C stops`, 'dim')];
}

/** A message as the transcript shows it; a long one is shortened. */
function echo(label: string, columns: number): Line[] {
  const lines = wrapSpans([span('› ', 'cyan', 'bold'), span(label.slice(0, mostEchoed), 'bold')], columns);
  const shown = lines.slice(0, mostEcho);
  const rest = lines.length - shown.length;
  return [...shown, ...(rest > 0 ? [[span(`… ${rest} more lines`, 'dim')]] : []), []];
}
