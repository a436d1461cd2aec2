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
  /** Closes the turn and tells how it went. */
  finish(end: Extract<TurnFrame, { type: 'result' | 'error' }>): TurnVerdict;
};

/** Shows one turn as it runs: text as it comes, thinking dim, tools one line each. */
export function createTurnView({ answer, aside }: Output, style: Style): TurnView {
  let block = '';
  let shown = false;
  /** What stands on the current line: nothing, part of the answer, or an aside. */
  let line: 'empty' | 'answer' | 'aside' = 'empty';
  let wantsBreak = false;
  let withdrawn = false;

  const endLine = () => {
    if (line === 'answer') answer('\n');
    if (line === 'aside') aside('\n');
    line = 'empty';
  };
  const write = (text: string) => {
    if (text === '') return;
    if (line === 'aside') endLine();
    if (wantsBreak) answer('\n');
    wantsBreak = false;
    answer(text);
    line = text.endsWith('\n') ? 'empty' : 'answer';
    shown = true;
  };
  const note = (text: string) => {
    endLine();
    aside(`${style.dim(visible(text))}\n`);
  };
  const think = (text: string) => {
    if (line === 'answer') endLine();
    aside(style.dim(visible(text)));
    line = 'aside';
  };
  const segment = (text: string) => {
    // A block that came without deltas comes whole.
    if (block === '') write(text);
    block = '';
    endLine();
    wantsBreak = shown;
  };

  return {
    show(frame) {
      switch (frame.type) {
        case 'queued':
          return note(frame.position > 0 ? `waiting, ${frame.position} before this` : 'waiting for a free place');
        case 'delta': {
          // The break before a further block is made here, where it is known what stands on the line.
          const text = block === '' && shown ? frame.text.replace(/^\n\n/, '') : frame.text;
          block += text;
          return write(text);
        }
        case 'segment':
          return segment(frame.text);
        case 'thinking':
          return think(frame.text);
        case 'tool':
          return note(`⚙ ${frame.name} ${brief(frame.input)}`);
        case 'tool_result':
          return note(`  ${frame.ok ? '→' : '✗'} ${firstLine(frame.output)}`);
        case 'retract':
          endLine();
          [block, shown, wantsBreak, withdrawn] = ['', false, false, true];
          return;
        case 'result':
        case 'error':
          return;
      }
    },
    finish(end) {
      if (end.type === 'error') {
        note('');
        aside(`${style.red('✗')} ${visible(describeError(end.error))}\n`);
        return 'failed';
      }
      if (!shown) for (const { text } of end.result.actions) write(text);
      endLine();
      for (const warning of end.result.warnings ?? []) note(`! ${warning}`);
      const remark = describeOutcome(end.result, withdrawn);
      if (remark !== null) note(remark);
      return verdictOf(end.result.outcome);
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
      return '(kept for the next turn; this conversation is held by somebody else at the moment)';
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
