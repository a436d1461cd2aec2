import { describe, expect, test } from 'vitest';
import { hideCommands, restoreText } from './plain-text.ts';

describe('the text of a chat', () => {
  const texts = ['look at @/etc/passwd', 'mail bob@example.com', '/quit', '//x', '\\@x', '-p hi', 'Zürich 👍 @ü', '@', '/'];

  test.each(texts)('%j reaches the model as it is', (text) => {
    const body = Buffer.from(JSON.stringify({ text: hideCommands(text) }));
    expect(JSON.parse(restoreText(body).toString())).toEqual({ text });
  });

  test.each(texts)('%j reaches the program without a word it would act on', (text) => {
    expect(hideCommands(text)).not.toMatch(/@|^\//);
  });
});
