import { visible, type Style } from '../terminal.ts';

export type PlainOutput = {
  /** The answer itself: the only output that a pipe gets. */
  answer: (text: string) => void;
  /** Notes for a person beside the answer. */
  aside: (text: string) => void;
};

/** The lines that the answer and the notes beside it share on a terminal. */
export type TurnLines = {
  /** True when a part of the answer was shown and not withdrawn. */
  hasAnswer(): boolean;
  write(text: string): void;
  note(text: string): void;
  /** A question to the person. */
  ask(text: string): void;
  /** Says that the turn waits, when nothing else shows it. */
  wait(text: string): void;
  /** How the turn failed. */
  fail(text: string): void;
  think(text: string): void;
  endLine(): void;
  /** Separates the next output from the previous one. */
  endBlock(): void;
  withdraw(): void;
};

/** Lines for a pipe or a terminal without cursor control: text is written as it arrives. */
export function createPlainLines({ answer, aside }: PlainOutput, style: Style): TurnLines {
  /** The content of the current line: nothing, part of the answer, or a note. */
  let line: 'empty' | 'answer' | 'aside' = 'empty';
  let shown = false;
  let wantsBreak = false;
  const endLine = () => {
    if (line === 'answer') answer('\n');
    if (line === 'aside') aside('\n');
    line = 'empty';
  };
  const note = (text: string) => {
    endLine();
    aside(`${style.dim(visible(text))}\n`);
  };
  return {
    hasAnswer: () => shown,
    write(text) {
      if (text === '') return;
      if (line === 'aside') endLine();
      if (wantsBreak) answer('\n');
      wantsBreak = false;
      answer(text);
      line = text.endsWith('\n') ? 'empty' : 'answer';
      shown = true;
    },
    note,
    ask(text) {
      note('');
      aside(`${style.bold('?')} ${visible(text)}\n`);
    },
    wait: note,
    fail(text) {
      note('');
      aside(`${style.red('✗')} ${visible(text)}\n`);
    },
    think(text) {
      if (line === 'answer') endLine();
      aside(style.dim(visible(text)));
      line = 'aside';
    },
    endLine,
    endBlock() {
      endLine();
      wantsBreak = shown;
    },
    withdraw() {
      endLine();
      [shown, wantsBreak] = [false, false];
    },
  };
}
