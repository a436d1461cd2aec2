import type { StreamHandlers } from '../connector.ts';
import type { ReplyText } from './reply-text.ts';

/** One thing that the assistant thought or did. A tool has no `ok` while it works. */
export type WorkStep =
  | { kind: 'thinking'; text: string }
  | { kind: 'tool'; id: string; name: string; input: unknown; ok?: boolean; output?: string };

/** A running turn: its latest steps, the number of earlier steps that were dropped, and the text so far. */
export type ReplyWork = { steps: readonly WorkStep[]; left: number; text: string };

/** Renders a running turn as one or more messages, each within the limit. */
export type ShowWork = (work: ReplyWork) => readonly string[];

/** The text of a reply together with its work, so that there is something to show from the beginning. */
export type WorkText = ReplyText & Required<Pick<StreamHandlers, 'onThinking' | 'onTool' | 'onToolResult'>>;

/** Earlier steps are only counted. */
const mostSteps = 100;
/** Maximum length of one step, characters. */
const longestStep = 20_000;
const blockBreak = '\n\n';

export function createWorkText(words: ReplyText, showWork: ShowWork): WorkText {
  let steps: WorkStep[] = [];
  let left = 0;

  const add = (step: WorkStep): void => {
    steps.push(step);
    if (steps.length <= mostSteps) return;
    steps.shift();
    left++;
  };
  const messages = () => showWork({ steps, left, text: words.visible() });

  return {
    ...words,
    retract() {
      steps = [];
      left = 0;
      words.retract();
    },
    onThinking(more) {
      const last = steps.at(-1);
      if (last?.kind === 'thinking') last.text = (last.text + more).slice(-longestStep);
      else add({ kind: 'thinking', text: more.slice(-longestStep) });
    },
    onTool: ({ id, name, input }) => add({ kind: 'tool', id, name, input }),
    onToolResult({ id, ok, output }) {
      const step = steps.findLast((each) => each.kind === 'tool' && each.id === id);
      if (step?.kind === 'tool') Object.assign(step, { ok, output: output.slice(0, longestStep) });
    },
    visible: () => messages().join(blockBreak),
    // `ShowWork` limits what is shown.
    size: () => 0,
    isBlank: () => false,
    cuts() {
      let end = 0;
      return messages()
        .slice(0, -1)
        .map((message) => (end += message.length + blockBreak.length));
    },
  };
}
