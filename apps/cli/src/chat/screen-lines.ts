import { createMarkdownStream, type MarkdownStream } from '../markdown/markdown-stream.ts';
import { span, wrapSpans, type Line } from '../screen/spans.ts';
import type { TurnLines } from './turn-lines.ts';

/** Where the lines of a turn are written. */
export type Transcript = {
  columns(): number;
  print(lines: readonly Line[]): void;
  /** True when the answer may be rendered instead of shown as source. */
  isRich: boolean;
};

export type ScreenLines = TurnLines & {
  /** Sets the unfinished part, which still changes. */
  preview(): Line[];
};

const blank: Line = [];
/** More than any screen shows of a thinking block. */
const mostPreviewed = 8000;

/** A turn on a screen: the answer rendered block by block, everything beside it dim. */
export function createScreenLines(transcript: Transcript): ScreenLines {
  const { columns } = transcript;
  const answer = transcript.isRich ? createMarkdownStream(columns) : createTextStream(columns);
  let thought = '';
  let shown = false;
  /** The kind printed last: blocks of different kinds are separated. */
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
