import { createInterface } from 'node:readline';
import type { ReadAnswers } from './take-answers.ts';

/** Reads answers line by line from the terminal, which turns Ctrl-C into a signal itself. */
export const readLines: ReadAnswers = ({ onAnswer, onEnd }) => {
  const reader = createInterface({ input: process.stdin, terminal: false });
  reader.on('line', onAnswer).on('close', onEnd);
  return () => {
    reader.off('line', onAnswer).off('close', onEnd);
    reader.close();
  };
};
