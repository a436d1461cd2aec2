/** The answer to "[name] count" with a number of files; long answers need several messages of the platform. */
export function answerTo(name: string, count: number, files: number): string {
  const words = Array.from({ length: count }, (_, n) => `${name}.${n}`);
  return [`${name} begins with ${files} files`, ...words, `${name} ends`].join(' ');
}

/** The script of the offline engine for these answers, word by word and with pauses. */
export const scriptText = `
import { setTimeout as sleep } from 'node:timers/promises';
${answerTo.toString()}
export async function* respond({ text, attachments }, signal) {
  const [, name = 'unknown', count = '0'] = [...text.matchAll(/\\[(\\w+)\\] (\\d+)/g)].at(-1) ?? [];
  const answer = answerTo(name, Number(count), attachments.length);
  let said = 0;
  for (const word of answer.split(/(?<= )/)) {
    yield { type: 'delta', text: word };
    if (++said % 8 === 0) await sleep(8, undefined, { signal });
  }
  yield { type: 'segment', text: answer };
}
`;
