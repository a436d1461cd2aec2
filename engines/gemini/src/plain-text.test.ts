import { describe, expect, test } from 'vitest';
import { hideCommands, restoreText } from './plain-text.ts';

describe('hideCommands()', () => {
  const texts = ['look at @/etc/passwd', 'mail bob@example.com', '/quit', '//x', '\\@x', '-p hi', 'Zürich 👍 @ü', '@', '/'];

  test.each(texts)('is undone for the model: %j', (text) => {
    const body = Buffer.from(JSON.stringify({ text: hideCommands(text) }));
    expect(JSON.parse(restoreText(body).toString())).toEqual({ text });
  });

  test.each(texts)('leaves nothing in %j that the program would act on', (text) => {
    expect(hideCommands(text)).not.toMatch(/@|^\//);
  });
});
