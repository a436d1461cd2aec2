import { expect, test } from 'vitest';
import { CoreError, type CoreApi, type SessionStreamFrame } from '@svc/connector-kit';
import type { StreamFrame } from '@svc/contract/device-gateway.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { watchConversation } from './watch-conversation.ts';

type Handlers = Parameters<CoreApi['sessions']['watch']>[2];

/** A conversation that the core does not know yet; `asked` are the watches that were opened for it. */
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
  const shown: unknown[] = [];
  const watch = watchConversation({
    sessions,
    as: { channel: 'device', platform_user_id: 'd_1' } as never,
    key: 'device:x:device:d_1',
    isOwn: true,
    after: null,
    onFrame: (frame) => shown.push(frame),
    onEnd: nothing,
    clock,
  });
  const notThere = () => asked.at(-1)?.onEnd?.(new CoreError('not_found', 'There is no such session.', { mayHaveRun: false }));
  const show = (frame: object) => asked.at(-1)?.onFrame({ conversation_key: 'k', seq: 7, ...frame } as SessionStreamFrame);
  return { clock, asked, shown, watch, notThere, show };
}

test('retries an unknown conversation every 30 seconds, and at once after a message', () => {
  const { clock, asked, watch, notThere } = open();
  notThere();
  clock.advance(29_000);
  expect(asked).toHaveLength(1);
  clock.advance(1000);
  expect(asked).toHaveLength(2);
  notThere();
  watch.look('t1');
  expect(asked).toHaveLength(3);
});

test('retries after a second if a message arrives while the core is asked', () => {
  const { clock, asked, watch, notThere } = open();
  watch.look('t1');
  notThere();
  clock.advance(1000);
  expect(asked).toHaveLength(2);
});

const done: StreamFrame = { conversation_key: 'k', turn_id: 't1', type: 'done', outcome: 'replied', text: 'hi' };

test('shows the end of a turn once if it ended before the core began to show it', () => {
  const { clock, shown, watch, notThere, show } = open();
  notThere();
  watch.look('t1');
  show({ type: 'watching', message: '' });
  watch.ended('t1', [done]);
  clock.advance(1000);
  watch.ended('t1', [done]);
  clock.advance(1000);
  expect(shown).toEqual([expect.objectContaining({ type: 'gap' }), null, done]);
});

test('does not repeat the end of a turn that the core shows', () => {
  const { clock, shown, watch, show } = open();
  watch.look('t1');
  watch.ended('t1', [done]);
  show({ turn_id: 't1', type: 'end', outcome: 'replied', text: 'hi' });
  watch.look('t2');
  watch.ended('t2', [{ ...done, turn_id: 't2' }]);
  clock.advance(1000);
  expect(shown).toEqual([done]);
});
