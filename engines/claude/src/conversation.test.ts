import { expect, test } from 'vitest';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { openConversation } from './conversation.ts';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined };

type Options = { canUseTool: (tool: string, input: object) => Promise<{ behavior: string }> };

test('a kept program has permissions only during a turn, and those of that turn', async () => {
  const given = Promise.withResolvers<Options>();
  const query = ({ options }: { options: Options }) => {
    given.resolve(options);
    return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }), close: () => undefined };
  };
  const request = engineRequest({ prompt: 'go', toolPolicy: 'full', cwd: '/' });
  const conversation = openConversation(
    { log: silent, sdk: { query } as never, install: { program: '/bin/true' } as never, env: {}, maxLine: 1000, notes: '' },
    request,
    null,
  );
  const { canUseTool } = await given.promise;
  const asks = async () => (await canUseTool('Bash', { command: 'ls' })).behavior;
  const listener = { onMessage: () => undefined, onEnd: () => undefined };
  expect(await asks()).toBe('deny');
  conversation.send([], { request, ...listener });
  expect(await asks()).toBe('allow');
  conversation.settle();
  expect(await asks()).toBe('deny');
  conversation.send([], { request: engineRequest({ prompt: 'go', toolPolicy: 'none', cwd: '/' }), ...listener });
  expect(await asks()).toBe('deny');
});
