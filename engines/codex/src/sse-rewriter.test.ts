import { expect, test } from 'vitest';
import { flattenTools } from './shim-tools.ts';
import { createSseRewriter } from './sse-rewriter.ts';

const { names } = flattenTools({ tools: [{ type: 'namespace', name: 'kit', tools: [{ type: 'function', name: 'echo' }] }] });
const stream = [
  'event: response.output_text.delta\ndata: {"delta":"grüße"}\n\n',
  'event: response.output_item.done\ndata: {"item":{"type":"function_call","name":"kit__echo"}}\n\n',
].join('');

test.each([1, 2, 3, 7, 1000])('rewrites a stream in chunks of %i bytes to the same stream with restored calls', async (size) => {
  const rewriter = createSseRewriter(names);
  const bytes = Buffer.from(stream);
  for (let start = 0; start < bytes.length; start += size) rewriter.write(bytes.subarray(start, start + size));
  rewriter.end();
  let text = '';
  for await (const chunk of rewriter) text += String(chunk);
  expect(text).toBe(stream.replace('"name":"kit__echo"', '"name":"echo","namespace":"kit"'));
});
