import { expect, test } from 'vitest';
import { CoreError, type CoreApi } from '@svc/connector-kit';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { watchConversation } from './watch-conversation.ts';

type Handlers = Parameters<CoreApi['sessions']['watch']>[2];

/** A conversation that the core does not know yet; `asked` are the questions after it, which wait for their answer. */
function open() {
  const clock = createFakeClock();
  const asked: Handlers[] = [];
  const sessions: Pick<CoreApi['sessions'], 'watch'> = {
    watch(_as, _key, handlers) {
      asked.push(handlers);
      return () => undefined;
    },
  };
  const nothing = () => undefined;
  const watch = watchConversation({
    sessions,
    as: { channel: 'device', platform_user_id: 'd_1' } as never,
    key: 'device:x:device:d_1',
    isOwn: true,
    after: null,
    onFrame: nothing,
    onEnd: nothing,
    clock,
  });
  const notThere = () => asked.at(-1)?.onEnd?.(new CoreError('not_found', 'There is no such session.', { mayHaveRun: false }));
  return { clock, asked, watch, notThere };
}

test('a conversation that is not there is looked for each half minute, and at once when something is said in it', () => {
  const { clock, asked, watch, notThere } = open();
  notThere();
  clock.advance(29_000);
  expect(asked).toHaveLength(1);
  clock.advance(1000);
  expect(asked).toHaveLength(2);
  notThere();
  watch.look();
  expect(asked).toHaveLength(3);
});

test('what is said while the core is asked is looked for a second later', () => {
  const { clock, asked, watch, notThere } = open();
  watch.look();
  notThere();
  clock.advance(1000);
  expect(asked).toHaveLength(2);
});
