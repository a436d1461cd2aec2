import type { HandleResult, Outcome, TurnFrame } from '@svc/contract/turn.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import { describeFailure } from '../engine/failure-help.ts';
import { visible, type Style } from '../terminal.ts';

type Output = {
  /** The answer itself: all that a pipe gets. */
  answer: (text: string) => void;
  /** What a person wants to see beside it. */
  aside: (text: string) => void;
};

export type TurnVerdict = 'ok' | 'failed' | 'stopped';

export type TurnView = {
  show(frame: TurnFrame): void;
  /** Closes the turn and gives its verdict. */
  finish(end: Extract<TurnFrame, { type: 'result' | 'error' }>): TurnVerdict;
};

/** Shows one turn as it runs: text as it comes, thinking dim, tools one line each. */
export function createTurnView(output: Output, style: Style): TurnView {
  const lines = createTurnLines(output, style);
  let block = '';
  let withdrawn = false;

  const delta = (text: string) => {
    // The break before a further block is made here, where it is known what stands on the line.
    const shown = block === '' && lines.hasAnswer() ? text.replace(/^\n\n/, '') : text;
    block += shown;
    lines.write(shown);
  };
  const segment = (text: string) => {
    // A block that came without deltas comes whole.
    if (block === '') lines.write(text);
    block = '';
    lines.endBlock();
  };

  return {
    show(frame) {
      switch (frame.type) {
        case 'queued':
          return lines.note(frame.position > 0 ? `waiting, ${frame.position} before this` : 'waiting for a free place');
        case 'delta':
          return delta(frame.text);
        case 'segment':
          return segment(frame.text);
        case 'thinking':
          return lines.think(frame.text);
        case 'tool':
          return lines.note(`⚙ ${frame.name} ${brief(frame.input)}`);
        case 'tool_result':
          return lines.note(`  ${frame.ok ? '→' : '✗'} ${firstLine(frame.output)}`);
        case 'retract':
          [block, withdrawn] = ['', true];
          return lines.withdraw();
        case 'result':
        case 'error':
          return;
      }
    },
    finish(end) {
      if (end.type === 'error') {
        lines.note('');
        output.aside(`${style.red('✗')} ${visible(describeError(end.error))}\n`);
        return 'failed';
      }
      if (!lines.hasAnswer()) for (const { text } of end.result.actions) lines.write(text);
      lines.endLine();
      for (const warning of end.result.warnings ?? []) lines.note(`! ${warning}`);
      const remark = describeOutcome(end.result, withdrawn);
      if (remark !== null) lines.note(remark);
      return verdictOf(end.result.outcome);
    },
  };
}

/** The lines that the answer and what stands beside it share on a terminal. */
type TurnLines = {
  /** True when a part of the answer was shown, and not withdrawn. */
  hasAnswer(): boolean;
  write(text: string): void;
  note(text: string): void;
  think(text: string): void;
  endLine(): void;
  /** What is written next stands apart from what was. */
  endBlock(): void;
  withdraw(): void;
};

function createTurnLines({ answer, aside }: Output, style: Style): TurnLines {
  /** What stands on the current line: nothing, part of the answer, or an aside. */
  let line: 'empty' | 'answer' | 'aside' = 'empty';
  let shown = false;
  let wantsBreak = false;
  const endLine = () => {
    if (line === 'answer') answer('\n');
    if (line === 'aside') aside('\n');
    line = 'empty';
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
    note(text) {
      endLine();
      aside(`${style.dim(visible(text))}\n`);
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

function verdictOf(outcome: Outcome): TurnVerdict {
  if (outcome === 'aborted') return 'stopped';
  return outcome === 'denied' || outcome === 'blocked' ? 'failed' : 'ok';
}

function describeOutcome({ outcome, actions }: HandleResult, withdrawn: boolean): string | null {
  switch (outcome) {
    case 'replied':
    case 'command':
    case 'blocked':
      return null;
    case 'silent':
      return withdrawn ? '(withdrawn: the assistant chose not to answer)' : '(no answer: the assistant chose to be silent)';
    case 'aborted':
      return '(stopped)';
    case 'denied':
      return `${actions.length === 0 ? '(no access) ' : ''}This user has no access; the owner can give it (./svc person). Should you be the owner, ./svc doctor says what is wrong.`;
    case 'merged':
      return '(taken together with your next message)';
    case 'delivered':
      return '(answered already)';
    case 'observed':
      return '(kept for the next turn; another person holds this conversation at the moment)';
  }
}

/** What failed, and the command that helps. */
export function describeError(body: ErrorBody & { engine_id?: string }): string {
  const { message, error, request_id, engine_id } = body;
  if (error === 'internal') return `${message} (request ${request_id}; ./svc logs core shows more)`;
  return engine_id === undefined ? message : describeFailure(engine_id, body);
}

const brief = (input: unknown): string => cut(typeof input === 'string' ? input : (JSON.stringify(input) ?? ''), 100);
const firstLine = (text: string): string => cut(text.trim().split('\n')[0] ?? '', 100);
const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
