import { expect, test } from 'vitest';
import { parseRequest, takeFiles } from './parse-request.ts';

const image = (bytes: string) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${bytes}` } });
const request = () =>
  parseRequest({
    messages: [
      { role: 'user', content: [image('AAAA')] },
      { role: 'user', content: [{ type: 'text', text: 'and this? ' }, image('BBBB')] },
    ],
  });

test.each([
  [true, ['BBBB']],
  [false, ['AAAA', 'BBBB']],
])('takes the files of a turn out of its request, which is kept until the answer (known conversation: %j)', (isSeen, bytes) => {
  const asked = request();
  const files = takeFiles(asked, isSeen);
  expect(files.map(({ source }) => source)).toEqual(bytes.map((base64) => ({ base64 })));
  expect(JSON.stringify(asked)).not.toMatch(/AAAA|BBBB/);
});
