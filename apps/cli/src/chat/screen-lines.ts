import { createMarkdownStream, type MarkdownStream } from '../markdown/markdown-stream.ts';
import { span, wrapSpans, type Line } from '../screen/spans.ts';
import type { TurnLines } from './turn-lines.ts';

/** Where the lines of a turn go. */
export type Transcript = {
  columns(): number;
  print(lines: readonly Line[]): void;
  /** True where the answer may be shown as something else than its source. */
  isRich: boolean;
};

export type ScreenLines = TurnLines & {
  /** What is not finished yet: it still changes. */
  preview(): Line[];
};

const blank: Line = [];
/** More than any screen shows of a thought. */
const mostPreviewed = 8000;

/** A turn on a screen: its answer rendered block by block, what stands beside it dim. */
export function createScreenLines(transcript: Transcript): ScreenLines {
  const { columns } = transcript;
  const answer = transcript.isRich ? createMarkdownStream(columns) : createTextStream(columns);
  let thought = '';
  let shown = false;
  /** What was printed last: blocks of different kinds stand apart. */
  let last: 'nothing' | 'answer' | 'aside' = 'nothing';
  let wantsBreak = false;

  const print = (kind: 'answer' | 'aside', lines: readonly Line[]) => {
    if (lines.length === 0) return;
    const isApart = last !== 'nothing' && (wantsBreak || last !== kind);
    transcript.print(isApart ? [blank, ...lines] : lines);
    [last, wantsBreak] = [kind, false];
  };
  const aside = (text: string) => wrapSpans([span(text.trimEnd(), 'dim')], columns());
  const endThought = () => {
    if (thought.trim() !== '') print('aside', aside(thought));
    thought = '';
  };
  const endAnswer = () => print('answer', answer.end());
  const note = (text: string) => {
    endThought();
    endAnswer();
    print('aside', aside(text));
  };

  return {
    hasAnswer: () => shown,
    write(text) {
      if (text === '') return;
      endThought();
      shown = true;
      print('answer', answer.push(text));
    },
    note,
    ask(text) {
      endThought();
      endAnswer();
      print('aside', wrapSpans([span('? ', 'cyan', 'bold'), span(text)], columns()));
    },
    wait: () => undefined,
    fail(text) {
      endThought();
      endAnswer();
      print('aside', wrapSpans([span('✗ ', 'red'), span(text)], columns()));
    },
    think(text) {
      endAnswer();
      thought += text;
    },
    endLine() {
      endThought();
      endAnswer();
    },
    endBlock() {
      endAnswer();
      wantsBreak = shown;
    },
    withdraw() {
      endAnswer();
      shown = false;
    },
    preview: () => (thought === '' ? answer.preview() : aside(thought.slice(-mostPreviewed))),
  };
}

/** Text as it is written, line by line. */
function createTextStream(columns: () => number): MarkdownStream {
  let open = '';
  const lines = (text: string) => wrapSpans([span(text)], columns());
  return {
    push(text) {
      open += text;
      const end = open.lastIndexOf('\n');
      const whole = open.slice(0, Math.max(0, end));
      open = open.slice(end + 1);
      return end === -1 ? [] : lines(whole);
    },
    preview: () => (open === '' ? [] : lines(open)),
    end() {
      const rest = open;
      open = '';
      return rest === '' ? [] : lines(rest);
    },
  };
}
