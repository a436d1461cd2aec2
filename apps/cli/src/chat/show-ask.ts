import type { Ask } from '@svc/contract/ask.ts';
import { askText } from '@svc/contract/ask-text.ts';
import type { TurnLines } from './turn-lines.ts';

/** How a question is shown. */
export type ShowAsk = (lines: Pick<TurnLines, 'ask' | 'note'>, ask: Ask) => void;

/** To a person who answers where it is shown. */
export const showAskHere: ShowAsk = (lines, ask) => lines.ask(`${askText(ask)}\nAnswer with a number or the words.`);

/** Where nobody can type an answer: on one line, whole, with the command that answers in this conversation. */
export const showAskForCommand =
  (conversationKey: string): ShowAsk =>
  (lines, { text, options }) => {
    const answers = options.map(({ label }, index) => `${index + 1}. ${onOneLine(label)}`).join(', ');
    lines.note(`? The assistant asks: ${onOneLine(text)} (${answers}) Answer by number: ${answerCommand(conversationKey)}`);
  };

/** The command that gives the first answer. */
export function answerCommand(conversationKey: string): string {
  const name = conversationKey.slice(conversationKey.lastIndexOf(':') + 1);
  return `./svc chat ${name === 'default' ? '' : `--session=${name} `}1`;
}

/** Nothing is left out: nobody is to say yes to what they have not seen. */
const onOneLine = (text: string): string => text.trim().replaceAll(/\s*[\r\n\u2028\u2029]\s*/g, ' ⏎ ');
