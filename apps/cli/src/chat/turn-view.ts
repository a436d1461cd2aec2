import type { Ask, AskAnswer } from '@svc/contract/ask.ts';
import { textOf, type HandleResult, type Outcome, type TurnFrame } from '@svc/contract/turn.ts';
import type { ErrorBody, ErrorCode } from '@svc/contract/error-body.ts';
import { describeFailure } from '../engine/failure-help.ts';
import { showAskHere, type ShowAsk } from './show-ask.ts';
import type { TurnLines } from './turn-lines.ts';

export type TurnVerdict = 'ok' | 'failed' | 'stopped';

export type TurnView = {
  show(frame: TurnFrame): void;
  /** What the engine does now, in a word or two. */
  activity(): string;
  /** Closes the turn and returns its outcome. */
  finish(end: Extract<TurnFrame, { type: 'result' | 'error' }>): TurnVerdict;
};

/** Shows one turn as it runs: text as it arrives, thinking dim, one line for each tool. */
export function createTurnView(lines: TurnLines, showAsk: ShowAsk = showAskHere): TurnView {
  let activity = 'working';
  let block = '';
  let withdrawn = false;
  let asked: Ask | null = null;

  const delta = (text: string) => {
    // The line break before another block is written here, because only this code knows the current line.
    const shown = block === '' && lines.hasAnswer() ? text.replace(/^\n\n/, '') : text;
    block += shown;
    lines.write(shown);
  };
  const segment = (text: string) => {
    // A block without deltas arrives as a whole.
    if (block === '') lines.write(text);
    block = '';
    lines.endBlock();
  };

  return {
    activity: () => activity,
    show(frame) {
      activity = activityOf(frame) ?? activity;
      switch (frame.type) {
        case 'queued':
          return lines.wait(activity);
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
        case 'ask':
          asked = frame.ask;
          return showAsk(lines, asked);
        case 'asked':
          // An answer given here is confirmed at the place where it was given.
          if (asked?.id === frame.id && frame.answer.outcome !== 'answered') lines.note(describeAsked(frame.answer));
          return;
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
        lines.fail(describeError(end.error));
        return 'failed';
      }
      if (!lines.hasAnswer()) lines.write(textOf(end.result.actions));
      lines.endLine();
      for (const action of end.result.actions) {
        if (action.type === 'file') lines.note(`📎 ${action.name}: ${action.path}`);
        if (action.type === 'react') lines.note(`the assistant reacts with ${action.emoji}`);
      }
      for (const warning of end.result.warnings ?? []) lines.note(`! ${warning}`);
      const remark = describeOutcome(end.result, withdrawn);
      if (remark !== null) lines.note(remark);
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
      return `${actions.length === 0 ? '(no access) ' : ''}This user has no access; the owner can give it (./svc person). If you are the owner, ./svc doctor says what is wrong.`;
    case 'merged':
      return '(combined with your next message)';
    case 'delivered':
      return '(answered already)';
    case 'observed':
      return '(kept for the next turn; another person has taken over this conversation)';
  }
}

const describeAsked = ({ outcome }: AskAnswer): string =>
  outcome === 'expired' ? 'Not answered in time, so it was not done.' : 'This question is over.';

/** The failure, and the command that helps. */
export function describeError(body: ErrorBody & { engine_id?: string; cause?: string }): string {
  const { message, error, request_id, engine_id, cause } = body;
  // A failure with a known cause explains itself.
  if (error === 'internal' && cause !== undefined) return message;
  if (error === 'internal') return `${message} (request ${request_id}; ./svc logs core shows more)`;
  if (engine_id !== undefined) return describeFailure(engine_id, body);
  const command = message.includes('./svc ') ? undefined : commands[error];
  return command === undefined ? message : `${message} Run: ${command}`;
}

/** The command that helps when no engine is at fault. */
const commands: Partial<Record<ErrorCode, string>> = {
  unavailable: './svc status',
  upstream: './svc doctor',
  insufficient_storage: './svc doctor',
  turn_interrupted: './svc logs core',
  turn_too_long: './svc logs core',
};

/** The engine activity that a frame reports; null when nothing changed. */
function activityOf(frame: TurnFrame): string | null {
  switch (frame.type) {
    case 'queued':
      return frame.position > 0 ? `waiting, ${frame.position} before this` : 'waiting for a free slot';
    case 'delta':
      return 'writing';
    case 'tool':
      return `⚙ ${frame.name}`;
    case 'ask':
      return 'waiting for your answer';
    case 'asked':
    case 'thinking':
    case 'tool_result':
      return 'thinking';
    default:
      return null;
  }
}

const brief = (input: unknown): string => cut(typeof input === 'string' ? input : (JSON.stringify(input) ?? ''), 100);
const firstLine = (text: string): string => cut(text.trim().split('\n')[0] ?? '', 100);
const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
