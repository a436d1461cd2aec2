import type { Outcome } from '@svc/contract/turn.ts';
import type { TurnPart } from '../protocol.ts';
import { isOver, type Phase, type Step, type Turn } from './turn.ts';

/** The turn after a frame of it. A frame that came before gives the same turn once more. */
export function applyPart(turn: Turn, part: TurnPart, now: number): Turn {
  if (part.type === 'inject') return begin(turn, part);
  if (part.type === 'done') return end(turn, part);
  if (part.type === 'undelivered') return { ...turn, undelivered: { reason: part.reason, isWaiting: false, deliveries: [] } };
  // What was sent again after the end is known already.
  if (isOver(turn)) return turn;
  switch (part.type) {
    case 'queued':
      return { ...turn, phase: 'queued', position: part.position };
    case 'thinking':
      return { ...turn, phase: 'thinking', thinking: turn.thinking + part.text };
    case 'delta':
      return { ...turn, phase: 'writing', text: turn.text + part.text };
    case 'retract':
      return { ...turn, phase: 'thinking', text: '' };
    case 'tool':
      return { ...turn, phase: 'tool', steps: withStep(turn.steps, part, now) };
    case 'tool_result':
      return { ...turn, phase: 'thinking', steps: withResult(turn.steps, part, now) };
    case 'ask':
      return turn.questions.some(({ ask }) => ask.id === part.ask.id)
        ? turn
        : { ...turn, questions: [...turn.questions, { ask: part.ask, answer: null }] };
    case 'asked':
      return {
        ...turn,
        questions: turn.questions.map((question) =>
          question.ask.id === part.id ? { ...question, answer: part.answer } : question,
        ),
      };
  }
}

type Part<T extends TurnPart['type']> = Extract<TurnPart, { type: T }>;

/** Where a turn begins, all that is known of it is sent again from here on. */
function begin(turn: Turn, { origin, sender, text, attachments }: Part<'inject'>): Turn {
  const said = { origin, sender, text, attachments };
  if (isOver(turn)) return { ...turn, said };
  return { ...turn, said, phase: 'thinking', position: 0, thinking: '', steps: [], questions: [], text: '', fault: null };
}

function end(turn: Turn, { outcome, text, files = [], error }: Part<'done'>): Turn {
  const steps = turn.steps.map((step) => (step.ok === null ? { ...step, ok: outcome !== null } : step));
  const phase = phaseOf(outcome, error !== undefined);
  const shown = text === '' && phase === 'stopped' ? turn.text : text;
  return { ...turn, phase, steps, text: phase === 'silent' ? '' : shown, files, fault: error?.message ?? null };
}

export function phaseOf(outcome: Outcome | null, failed: boolean): Phase {
  if (failed || outcome === null) return 'failed';
  if (outcome === 'aborted') return 'stopped';
  return outcome === 'silent' || outcome === 'observed' || outcome === 'merged' ? 'silent' : 'done';
}

function withStep(steps: readonly Step[], { id, name, input }: Part<'tool'>, begun: number): readonly Step[] {
  const known = steps.some((step) => step.id === id);
  if (known) return steps.map((step) => (step.id === id ? { ...step, name, input } : step));
  return [...steps, { id, name, input, ok: null, output: '', begun, ended: null }];
}

const withResult = (steps: readonly Step[], { id, ok, output }: Part<'tool_result'>, ended: number): readonly Step[] =>
  steps.map((step) => (step.id === id ? { ...step, ok, output, ended } : step));
