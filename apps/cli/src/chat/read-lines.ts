import { createInterface } from 'node:readline';
import type { ReadAnswers } from './take-answers.ts';

/** Answers line by line, as the terminal gives them; it makes a signal of Ctrl-C itself. */
export const readLines: ReadAnswers = ({ onAnswer, onEnd }) => {
  const reader = createInterface({ input: process.stdin, terminal: false });
  reader.on('line', onAnswer).on('close', onEnd);
  return () => {
    reader.off('line', onAnswer).off('close', onEnd);
    reader.close();
  };
};
