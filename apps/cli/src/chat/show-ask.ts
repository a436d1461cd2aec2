import type { Ask } from '@svc/contract/ask.ts';
import { askText } from '@svc/contract/ask-text.ts';
import type { TurnLines } from './turn-lines.ts';

/** How a question of the assistant is shown. */
export type ShowAsk = (lines: Pick<TurnLines, 'ask' | 'note'>, ask: Ask) => void;

/** To a person who can answer in place. */
export const showAskHere: ShowAsk = (lines, ask) => lines.ask(`${askText(ask)}\nAnswer with a number or the words.`);

/** When nobody can type here: the whole question on one line, with the command that answers it in this conversation. */
export const showAskForCommand =
  (conversationKey: string): ShowAsk =>
  (lines, { text, options }) => {
    const answers = options.map(({ label }, index) => `${index + 1}. ${onOneLine(label)}`).join(', ');
    lines.note(`? The assistant asks: ${onOneLine(text)} (${answers}) Answer by number: ${answerCommand(conversationKey)}`);
  };

/** The command that chooses the first answer. */
export function answerCommand(conversationKey: string): string {
  const name = conversationKey.slice(conversationKey.lastIndexOf(':') + 1);
  return `./svc chat ${name === 'default' ? '' : `--session=${name} `}1`;
}

/** Nothing is shortened: a person must not approve what they have not seen. */
const onOneLine = (text: string): string => text.trim().replaceAll(/\s*[\r\n\u2028\u2029]\s*/g, ' ⏎ ');
